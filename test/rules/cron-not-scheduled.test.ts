import { expect, test } from 'vitest';
import rule from '../../src/rules/app/cron-not-scheduled.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { minutesAgo } from './workloads.ts';

const cron = (spec: Record<string, any>, name = 'settle') =>
  object('CronJob', name, {
    namespace: 'pay',
    spec: { schedule: '30 5 * * *', ...spec },
    status: { lastScheduleTime: minutesAgo(3000) },
  });
const subject = { kind: 'CronJob', name: 'settle', namespace: 'pay' };
const said = (of: ReturnType<typeof cron>, reason: string, message: string) =>
  event(of, reason, message, { source: 'cronjob-controller' });

test('a time zone, a schedule, a suspension and a deadline that allow no run', () => {
  const zone = cron({ timeZone: 'Europe/Pariss' });
  const schedule = cron({ schedule: '61 * * * *' });
  for (const [objects, field] of [
    [[zone, said(zone, 'UnknownTimeZone', 'unknown time zone Europe/Pariss')], 'spec.timeZone'],
    [[schedule, said(schedule, 'UnparseableSchedule', 'unparseable schedule: 61 * * * *')], 'spec.schedule'],
    [[cron({ suspend: true })], 'spec.suspend'],
    [[cron({ startingDeadlineSeconds: 5 })], 'spec.startingDeadlineSeconds'],
  ] as const) {
    const [finding] = findingsOf(rule, { subject, objects: [...objects] });
    expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
    expect(finding?.evidence.map((entry) => entry.field)).toContain(field);
  }
});

test('who wrote the field last decides, where that is the platform', () => {
  const suspended = cron({ suspend: true });
  suspended.metadata.managedFields = [
    {
      manager: 'platform-maintenance',
      operation: 'Update',
      time: minutesAgo(3000),
      fieldsV1: { 'f:spec': { 'f:suspend': {} } },
    },
  ];
  expect(findingsOf(rule, { subject, objects: [suspended] })[0]).toMatchObject({ owner: 'platform' });
});

test('silent for a schedule that is followed, and for another suspended job of the namespace', () => {
  expectSilent(rule, { subject, objects: [cron({}), cron({ suspend: true }, 'other')] });
  const namespace = { kind: 'Deployment', name: 'web', namespace: 'pay' };
  expectSilent(rule, { subject: namespace, objects: [cron({ suspend: true })] });
});
