import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-removed-on-purpose.ts';
import { at, node, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Node', name: 'n1' };
const tainted = (key: string, timeAdded: string) =>
  node('n1', 'Unknown', { since: at('08:26'), spec: { taints: [{ key, effect: 'NoSchedule', timeAdded }] } });

test('Karpenter and Cluster Autoscaler take nodes away in their own ways', () => {
  for (const key of ['karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler', 'karpenter.sh/disruption'])
    expect(findingsOf(rule, { subject, objects: [tainted(key, at('08:24'))] })[0]).toMatchObject({
      state: 'expected',
      boundary: 'node',
      deadline: at('08:45'),
    });
  const asked = event(node('n1'), 'ScaleDown', 'marked the node as toBeDeleted/unschedulable', {
    source: 'cluster-autoscaler',
    type: 'Normal',
    at: at('08:24'),
  });
  expect(findingsOf(rule, { subject, objects: [node('n1', 'Unknown'), asked] })).toHaveLength(1);
});

test('stays silent when the removal is long overdue or pods hold it', () => {
  expectSilent(rule, { subject, objects: [tainted('karpenter.sh/disrupted', at('07:30'))] });
  const stuck = pod('web-1', 'n1');
  stuck.metadata.deletionTimestamp = at('08:10');
  expectSilent(rule, { subject, objects: [tainted('karpenter.sh/disrupted', at('08:05')), stuck] });
});

test('stays silent when the node fell silent before anybody asked', () => {
  const lost = event(node('n1'), 'NodeNotReady', 'Node n1 status is now: NodeNotReady', {
    type: 'Normal',
    at: at('08:10'),
  });
  expectSilent(rule, { subject, objects: [tainted('karpenter.sh/disrupted', at('08:24')), lost] });
});

test('a cordoned node goes while the new version joins its pool', () => {
  const pool = { labels: { 'cloud.google.com/gke-nodepool': 'a' } };
  const old = node('n1', 'Unknown', {
    ...pool,
    info: { kubeletVersion: 'v1.33.1' },
    spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', timeAdded: at('08:20') }] },
  });
  const fresh = node('n2', 'True', { ...pool, info: { kubeletVersion: 'v1.34.0' } });
  fresh.metadata.creationTimestamp = at('08:00');
  expect(findingsOf(rule, { provider: 'gke', subject, objects: [old, fresh] })[0]).toMatchObject({ state: 'expected' });
  expectSilent(rule, {
    provider: 'gke',
    subject,
    objects: [old, node('n2', 'True', { ...pool, info: { kubeletVersion: 'v1.33.1' } })],
  });
});
