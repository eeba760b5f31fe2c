import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/heartbeat-alert.ts';
import { alert } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };

test('Watchdog and InfoInhibitor are expected, whatever they are called in a stack', () => {
  for (const name of ['Watchdog', 'InfoInhibitor', 'DeadMansSwitch']) {
    const [finding] = findingsOf(rule, { subject, alerts: [alert(name, { namespace: 'labs' })] });
    expect(finding).toMatchObject({ state: 'expected', strength: 'direct' });
    expect(finding?.deadline).toBeDefined();
  }
});

test('a Watchdog that resolved is a broken alert path', () => {
  const gone = { ...alert('Watchdog'), status: 'resolved' as const, endsAt: '2026-11-20T08:00:00Z' };
  expect(findingsOf(rule, { subject, alerts: [gone] })[0]).toMatchObject({ state: 'fault', owner: 'platform' });
});

test('stays silent beside a real alert of the same notification', () => {
  expectSilent(rule, { subject, alerts: [alert('InfoInhibitor'), alert('KubePodCrashLooping')] });
});
