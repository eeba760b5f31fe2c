import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/monitoring-gap.ts';
import { alert, at, log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const resolved = { ...alert('BackupHeartbeatAbsent', {}, 'absent(backup_last_success)'), status: 'resolved' as const };
const prometheus = (startedAt: string, ready: 'True' | 'False' = 'True') =>
  pod('prometheus-main-0', 'n1', {
    namespace: 'monitoring',
    ready,
    status: { containerStatuses: [{ name: 'prometheus', state: { running: { startedAt } } }] },
  });

test('an absence that was seen while Prometheus replayed its log', () => {
  const [finding] = findingsOf(rule, {
    subject,
    alerts: [resolved],
    objects: [prometheus(at('08:12'))],
    logs: [log('prometheus-main-0', 'level=INFO msg="WAL replay completed"', 'monitoring')],
  });
  expect(finding).toMatchObject({ state: 'over', boundary: null });
  expect(finding?.evidence.map((entry) => entry.text)).toContainEqual(expect.stringContaining('WAL replay'));
});

test('stays silent while it fires, where the monitoring ran on or is not back, and for other alerts', () => {
  expectSilent(rule, { subject, alerts: [{ ...resolved, status: 'firing' }], objects: [prometheus(at('08:12'))] });
  expectSilent(rule, { subject, alerts: [resolved], objects: [prometheus(at('03:00'))] });
  expectSilent(rule, { subject, alerts: [resolved], objects: [prometheus(at('08:12'), 'False')] });
  expectSilent(rule, {
    subject,
    alerts: [{ ...alert('HighLatency', {}, 'p99 above 2 s'), status: 'resolved' }],
    objects: [prometheus(at('08:12'))],
  });
});
