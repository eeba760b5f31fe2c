import { expect, test } from 'vitest';
import rule from '../../src/rules/app/leftover-pods-hold-nodes.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { node, subjectOf, waiting } from './nodes.ts';
import { deployment, logOf, minutesAgo, podOf } from './workloads.ts';

const pod = waiting('web-1', { message: '0/2 nodes are available: 2 Insufficient cpu.' });
const subject = subjectOf(pod);
const nodes = [node('n1', { allocatable: { cpu: '8' } }), node('n2', { allocatable: { cpu: '8' } })];
const crowd = (count: number, rest: Record<string, any> = {}) =>
  Array.from({ length: count }, (_, index) =>
    object('Pod', `${rest.name ?? 'load-agent'}-${index}`, {
      namespace: 'lab',
      creationTimestamp: minutesAgo(rest.age ?? 60 * 50),
      labels: rest.labels ?? { 'created-by': 'bench' },
      spec: {
        nodeName: index % 2 ? 'n1' : 'n2',
        containers: [{ name: 'x', resources: { requests: { cpu: rest.cpu ?? '1' } } }],
      },
      status: { phase: rest.phase ?? 'Running' },
    }),
  );
const bench = deployment('bench', { namespace: 'lab' });
const maker = podOf('bench', 'a', { namespace: 'lab' });

test('pods that a tool of another namespace left behind fill the nodes', () => {
  const objects = [pod, ...nodes, ...bench, maker, ...crowd(8)];
  const logs = [logOf(maker, 'INFO run=12 state=finished cleanup=skipped\nINFO active_runs=0')];
  expect(findingsOf(rule, { subject, objects, logs })[0]).toMatchObject({
    owner: 'app',
    boundary: 'application',
    root: { name: 'bench' },
  });
  const [unsaid] = findingsOf(rule, { subject, objects });
  expect(unsaid?.explains).toContain('pool-limit');
});

test('silent for few, young, finished or small ones, and for pods that look like servers', () => {
  const all = (pods: ReturnType<typeof crowd>) => ({ subject, objects: [pod, ...nodes, ...bench, maker, ...pods] });
  expectSilent(rule, all(crowd(3)));
  expectSilent(rule, all(crowd(8, { age: 60 })));
  expectSilent(rule, all(crowd(8, { phase: 'Succeeded' })));
  expectSilent(rule, all(crowd(8, { cpu: '100m' })));
  expectSilent(rule, all(crowd(8, { name: 'db', labels: { app: 'db' } })));
});
