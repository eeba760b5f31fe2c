import { condition } from './harness.ts';
import { nodeClass, pool, subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const message = 'Role node is unauthorized to join nodes to the cluster';

/** An Auto Mode pool whose class reports its node role as unauthorised, with these answers of the cloud. */
export const unauthorized = (cloud: Record<string, unknown>) => ({
  provider: 'eks-auto' as const,
  subject: subjectOf(pod),
  objects: [
    pod,
    pool('apps', {
      nodeClass: 'private',
      classKind: 'NodeClass',
      conditions: [condition('Ready', 'False', 'UnhealthyDependents')],
    }),
    nodeClass('private', {
      kind: 'NodeClass',
      spec: { role: 'node' },
      status: { conditions: [condition('ValidationSucceeded', 'False', 'UnauthorizedNodeRole', message)] },
    }),
  ],
  cloud: Object.entries(cloud).map(([call, answer]) => ({ call, answer })) as any,
});

export const roleWithPath = { Role: { RoleName: 'node', Arn: 'arn:aws:iam::111122223333:role/infra/node' } };
export const entryWithPath = 'arn:aws:iam::111122223333:role/infra/node';
