import { expect, test } from 'vitest';
import rule from '../../src/rules/app/undrained-connections.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, minutesAgo, podOf } from './workloads.ts';

const alert = (summary: string) => ({
  status: 'firing' as const,
  labels: { alertname: 'Alert' },
  annotations: { summary },
  startsAt: minutesAgo(5),
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'f',
});
const app = (spec: Record<string, any> = { terminationGracePeriodSeconds: 5 }, container = {}) =>
  deployment('chat', { spec, container, replicas: 5, age: 9000 });
const gone = object('Pod', 'chat-2-gone', { namespace: 'shop' });
const evicted = event(gone, 'Evicted', 'Evicted pod: Spot interruption', {
  type: 'Normal',
  at: minutesAgo(8),
  source: 'karpenter',
});
const subject = { kind: 'Deployment', name: 'chat', namespace: 'shop' };
const objects = [...app(), podOf('chat', 'a'), evicted];
const read = ['poddisruptionbudgets'];

test('an eviction that cut connections of a workload that does not drain is its owner’s', () => {
  const [finding] = findingsOf(rule, { subject, alerts: [alert('8400 websocket disconnects')], objects, read });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'derived' });
  expect(finding?.cause.en).toContain('5 s of grace');
  expect(finding?.explains).toContain('node-churn');
});

test('consolidation and drains count like a reclaim', () => {
  for (const [reason, message] of [
    ['Evicted', 'Evicted pod: Underutilized'],
    ['ScaleDown', 'deleting pod for node scale down'],
  ] as const) {
    const other = event(gone, reason, message, { at: minutesAgo(8) });
    expect(
      findingsOf(rule, {
        subject,
        alerts: [alert('stream errors')],
        objects: [...app(), podOf('chat', 'a'), other],
        read,
      }),
    ).toHaveLength(1);
  }
});

test('stays silent for a workload that drains, an eviction long before, and alerts about something else', () => {
  const drains = app(
    { terminationGracePeriodSeconds: 600 },
    { lifecycle: { preStop: { exec: { command: ['drain'] } } } },
  );
  expectSilent(rule, {
    subject,
    alerts: [alert('websocket disconnects')],
    objects: [...drains, podOf('chat', 'a'), evicted],
    read,
  });
  const before = event(gone, 'Evicted', 'Evicted pod: Spot interruption', { at: minutesAgo(180) });
  expectSilent(rule, {
    subject,
    alerts: [alert('websocket disconnects')],
    objects: [...app(), podOf('chat', 'a'), before],
    read,
  });
  expectSilent(rule, { subject, alerts: [alert('certificate expires')], objects, read });
});
