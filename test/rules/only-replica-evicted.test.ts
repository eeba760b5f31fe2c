import { expect, test } from 'vitest';
import rule from '../../src/rules/app/only-replica-evicted.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const app = (replicas = 1) => [...deployment('web', { replicas, age: 60 * 24 * 30 }), podOf('web', 'new')];
const gone = object('Pod', 'web-2-x2x4z', { namespace: 'shop' });
const evicted = (reason: string, message: string, source: string, at = '2026-11-20T08:20:00Z') =>
  event(gone, reason, message, { source, at });
const karpenter = evicted('Evicted', 'Evicted pod: Underutilized', 'karpenter');

test('one replica without a budget is down at each orderly eviction, whoever clears the node', () => {
  for (const words of [
    karpenter,
    evicted('ScaleDown', 'deleting pod for node scale down', 'cluster-autoscaler'),
    evicted('Descheduled', 'pod evicted from node-1 node by sigs.k8s.io/descheduler', 'descheduler'),
    evicted('Evicted', 'Evicted pod: Drifted', 'karpenter'),
  ]) {
    const [finding] = findingsOf(rule, { subject, objects: [...app(), words] });
    expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
    expect(finding?.evidence.some((entry) => entry.text === words.message)).toBe(true);
  }
});

test('stays silent for several replicas, a budget, unread budgets, pressure, reclaimed nodes and long ago', () => {
  const budget = object('PodDisruptionBudget', 'web', {
    namespace: 'shop',
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  expectSilent(rule, { subject, objects: [...app(2), karpenter] });
  expectSilent(rule, { subject, objects: [...app(), budget, karpenter] });
  expectSilent(rule, { subject, objects: [...app(), karpenter], denied: ['poddisruptionbudgets'] });
  for (const words of [
    evicted('Evicted', 'The node was low on resource: memory.', 'kubelet'),
    evicted('Evicted', 'Evicted pod: SpotInterrupted', 'karpenter'),
    evicted('Evicted', 'Evicted pod: Underutilized', 'karpenter', '2026-11-20T07:00:00Z'),
  ])
    expectSilent(rule, { subject, objects: [...app(), words] });
});

test('one eviction whose successor is just starting passes by itself; one that keeps failing does not', () => {
  const fresh = evicted('Evicted', 'Evicted pod: Underutilized', 'karpenter', '2026-11-20T08:28:00Z');
  const starting = (restartCount: number) => [
    ...deployment('web', { replicas: 1, age: 60 * 24 * 30 }),
    {
      ...podOf('web', 'new'),
      metadata: { ...podOf('web', 'new').metadata, creationTimestamp: '2026-11-20T08:28:20Z' },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T08:28:20Z' }],
        containerStatuses: [{ name: 'app', ready: false, restartCount, state: { running: {} } }],
      },
    },
  ];
  expectSilent(rule, { subject, objects: [...starting(0), fresh] });
  expect(findingsOf(rule, { subject, objects: [...starting(4), fresh] })).toHaveLength(1);
});
