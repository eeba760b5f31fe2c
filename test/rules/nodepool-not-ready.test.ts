import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodepool-not-ready.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { nodeClass, pool, subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const unready = pool('default', {
  conditions: [
    condition('Ready', 'False', 'UnhealthyDependents'),
    condition('NodeClassReady', 'False', 'UnhealthyDependents', 'SubnetsReady=False'),
  ],
});

test('names the class’s own condition, whichever it is', () => {
  for (const [type, reason, kind] of [
    ['SubnetsReady', 'SubnetsNotFound', 'EC2NodeClass'],
    ['SecurityGroupsReady', 'SecurityGroupsNotFound', 'EC2NodeClass'],
    ['AMIsReady', 'AMINotFound', 'EC2NodeClass'],
    ['ValidationSucceeded', 'CreateFleetAuthCheckFailed', 'EC2NodeClass'],
    ['SubnetsReady', 'SubnetNotFound', 'AKSNodeClass'],
  ] as const) {
    const broken = nodeClass('default', {
      kind,
      status: { conditions: [condition(type, 'False', reason), condition('Ready', 'False', 'UnhealthyDependents')] },
    });
    const own = {
      ...unready,
      spec: { ...unready.spec, template: { spec: { nodeClassRef: { kind, name: 'default' } } } },
    };
    const [finding] = findingsOf(rule, { subject, objects: [own, broken, pod] });
    expect(finding).toMatchObject({ owner: 'platform', boundary: 'provisioning', strength: 'direct' });
    expect(finding?.cause.en).toContain(reason);
  }
});

test('a class that does not exist', () => {
  const lost = pool('default', {
    conditions: [
      condition('Ready', 'False', 'UnhealthyDependents'),
      condition('NodeClassReady', 'False', 'NodeClassNotFound', 'NodeClass not found on cluster'),
    ],
  });
  expect(findingsOf(rule, { subject, objects: [lost, pod] })[0]?.cause.en).toContain('NodeClassNotFound');
});

test('silent where another ready pool takes the pods, or the pool was never meant for them', () => {
  const broken = nodeClass('default', {
    status: { conditions: [condition('SubnetsReady', 'False', 'SubnetsNotFound')] },
  });
  expectSilent(rule, { subject, objects: [unready, broken, pool('other', { nodeClass: 'other' }), pod] });
  const tainted = {
    ...unready,
    spec: { template: { spec: { ...unready.spec.template.spec, taints: [{ key: 'gpu', effect: 'NoSchedule' }] } } },
  };
  expectSilent(rule, { subject, objects: [tainted, broken, pod] });
});

test('a class that is still being resolved is no fault; one that stays so is', () => {
  const unknown = (minutes: number) =>
    nodeClass('default', {
      status: {
        conditions: [
          condition(
            'InstanceProfileReady',
            'Unknown',
            'AwaitingReconciliation',
            'object is awaiting reconciliation',
            minutesAgo(minutes),
          ),
        ],
      },
    });
  const wait = pool('default', { conditions: [condition('Ready', 'Unknown', 'ReconcilingDependents')] });
  expectSilent(rule, { subject, objects: [wait, unknown(2), pod] });
  expect(findingsOf(rule, { subject, objects: [wait, unknown(40), pod] })).toHaveLength(1);
});
