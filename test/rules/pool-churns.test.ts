import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pool-churns.ts';
import { at, node, owned, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const deployment = object('Deployment', 'orders', { namespace: 'shop', spec: { replicas: 2 } });
const set = object('ReplicaSet', 'orders-7d', { namespace: 'shop', ...owned('Deployment', 'orders') });
const pool = object('NodePool', 'general', {
  spec: { disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' } },
});
const home = node('n1', 'True', { labels: { 'karpenter.sh/nodepool': 'general' } });
const living = (ready: string) => pod('orders-7d-new', 'n1', { ...owned('ReplicaSet', 'orders-7d'), ready });
const moved = (count: number, message: string, source = 'karpenter', time = at('08:10')) =>
  Array.from({ length: count }, (_, index) =>
    event(object('Pod', `orders-7d-a${index}`, { namespace: 'shop' }), 'Evicted', message, {
      type: 'Normal',
      source,
      at: time,
    }),
  );
const around = (ready: string, events: any[]) => [deployment, set, pool, home, living(ready), ...events];

test('consolidation that moves pods more often than there are replicas is the platform’s', () => {
  const [finding] = findingsOf(rule, { subject, objects: around('True', moved(4, 'Evicted pod: Underutilized')) });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'provisioning', root: { kind: 'NodePool' } });
  expect(finding!.contributing).toMatchObject([{ owner: 'app' }]);
});

test('drift names what drifted', () => {
  const claim = object('NodeClaim', 'general-x', {
    status: { conditions: [condition('Drifted', 'True', 'AMIDrift')] },
  });
  const objects = [...around('False', moved(3, 'Evicted pod: Drifted')), claim];
  expect(findingsOf(rule, { subject, objects })[0]!.cause.en).toContain('AMIDrift');
});

test('stays silent on one move of each pod, on interruptions, others’ evictions, and yesterday’s', () => {
  expectSilent(rule, { subject, objects: around('True', moved(2, 'Evicted pod: Underutilized')) });
  expectSilent(rule, { subject, objects: around('False', moved(4, 'Evicted pod: SpotInterrupted')) });
  expectSilent(rule, { subject, objects: around('False', moved(4, 'pod evicted: underutilized', 'descheduler')) });
  expectSilent(rule, {
    subject,
    objects: around('False', moved(4, 'Evicted pod: Underutilized', 'karpenter', '2026-11-20T05:00:00Z')),
  });
});
