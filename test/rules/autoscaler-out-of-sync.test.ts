import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-out-of-sync.ts';
import { log, node, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const waiting = pod('orders-0', undefined, { ready: 'False' });
const synced = (values: number[]) => series('karpenter_cluster_state_synced', {}, values);
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const says = log(
  'karpenter-1',
  '{"level":"ERROR","time":"2026-11-20T08:20:00.000Z","message":"cluster is waiting on sync for extended duration"}',
);

test('the metric proves it, the log line alone makes it likely', () => {
  expect(findingsOf(rule, { subject, objects: [waiting], series: [synced([1, 1, ...zeros(12)])] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    onset: '2026-11-20T08:18:00Z',
  });
  expect(findingsOf(rule, { subject, objects: [waiting], logs: [says] })[0]).toMatchObject({ strength: 'derived' });
});

test('a claim whose node does not exist is named', () => {
  const orphan = object('NodeClaim', 'general-x', { status: { nodeName: 'gone' } });
  const well = object('NodeClaim', 'general-y', { status: { nodeName: 'n1' } });
  const [finding] = findingsOf(rule, { subject, objects: [waiting, node('n1'), orphan, well], logs: [says] });
  expect(finding!.cause.en).toContain('general-x');
});

test('stays silent just after a start, in step again, and where nobody waits', () => {
  expectSilent(rule, { subject, objects: [waiting], series: [synced([1, 1, 1, 0, 0])] });
  expectSilent(rule, { subject, objects: [waiting], series: [synced([...zeros(12), 1])] });
  expectSilent(rule, { subject, objects: [pod('orders-0', 'n1')], series: [synced(zeros(14))] });
  expectSilent(rule, { subject, now: '2026-11-20T12:00:00Z', objects: [waiting], logs: [says] });
});
