import { expect, test } from 'vitest';
import rule from '../../src/rules/app/drain-blocked-by-budget.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { claim, node, pool, running, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const budget = (namespace: string, allowed = 0) =>
  object('PodDisruptionBudget', 'web', {
    namespace,
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: allowed, currentHealthy: 1, expectedPods: 1 },
  });
const draining = (minutes = 60) => [
  node('n1', {
    pool: 'default',
    taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule', timeAdded: minutesAgo(minutes) }],
  }),
  claim('default-a', 'default', { node: 'n1', deletedMinutesAgo: minutes }),
];
const subject = { kind: 'NodePool', name: 'default' };

test('the budget’s owner acts', () => {
  for (const [namespace, owner] of [
    ['shop', 'app'],
    ['istio-system', 'platform'],
  ] as const) {
    const [finding] = findingsOf(rule, {
      subject,
      objects: [pool('default'), ...draining(), running('web-1', 'n1', { namespace }), budget(namespace)],
    });
    expect(finding).toMatchObject({ owner, mechanism: 'drain-blocked' });
  }
});

test('reaches the pods that wait for the room it holds, and explains the limit', () => {
  const pod = waiting('api-1');
  const full = pool('default', { limits: { cpu: '32' }, used: { cpu: '32' } });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [full, ...draining(), running('web-1', 'n1'), budget('shop'), pod],
  });
  expect(finding?.affects).toContainEqual(expect.objectContaining({ kind: 'Pod', name: 'api-1' }));
  expect(finding?.explains).toContain('pool-limit');
});

test('an upgrade that waits: a cordoned node of the older version', () => {
  const old = node('n1', {
    unschedulable: true,
    info: { kubeletVersion: 'v1.32.4' },
    taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: minutesAgo(90) }],
  });
  const objects = [old, node('n2', { info: { kubeletVersion: 'v1.33.1' } }), running('web-1', 'n1'), budget('shop')];
  expect(findingsOf(rule, { provider: 'aks', subject: { kind: 'Node', name: 'n1' }, objects })).toHaveLength(1);
  expectSilent(rule, {
    provider: 'aks',
    subject: { kind: 'Node', name: 'n1' },
    objects: [old, running('web-1', 'n1'), budget('shop')],
  });
});

test('a pod that forbids its disruption', () => {
  const pinned = running('job-1', 'n1', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
  expect(findingsOf(rule, { subject, objects: [pool('default'), ...draining(), pinned] })[0]?.root).toMatchObject({
    kind: 'Pod',
    name: 'job-1',
  });
});

test('silent for a budget that blocks consolidation only, one that allows evictions, and a drain of minutes', () => {
  const steady = [node('n1', { pool: 'default' }), claim('default-a', 'default', { node: 'n1' })];
  const passed = event(steady[0]!, 'DisruptionBlocked', 'Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])', {
    source: 'karpenter',
  });
  expectSilent(rule, {
    subject,
    objects: [pool('default'), ...steady, passed, running('web-1', 'n1'), budget('shop')],
  });
  expectSilent(rule, { subject, objects: [pool('default'), ...draining(), running('web-1', 'n1'), budget('shop', 1)] });
  expectSilent(rule, { subject, objects: [pool('default'), ...draining(5), running('web-1', 'n1'), budget('shop')] });
});
