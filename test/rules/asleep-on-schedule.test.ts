import { expect, test } from 'vitest';
import service from '../../src/rules/app/service-selects-nothing.ts';
import rule from '../../src/rules/platform/asleep-on-schedule.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const target = object('Service', 'web', { namespace: 'shop', spec: { selector: { app: 'web' } } });
const scaled = (annotations: Record<string, string>) => {
  const [workload, ...rest] = deployment('web', { replicas: 0 });
  workload!.metadata.annotations = annotations;
  return [workload!, ...rest, target];
};
const marked = scaled({ 'downscaler/original-replicas': '3' });
// The harness' now is a Friday, 08:30 UTC.
const said = (hours: string) =>
  logOf(
    podOf('downscaler', 'x', { namespace: 'kube-downscaler' }),
    `INFO: Scaling down Deployment shop/web from 3 to 0 replicas (uptime: ${hours}, downtime: never)`,
  );

test.each([
  ['the size to return to', scaled({ 'downscaler/original-replicas': '3' })],
  ['kube-green', scaled({ 'kube-green.dev/original-replicas': '2' })],
])('a workload at zero that bears the mark of a schedule is expected: %s', (_, objects) => {
  expect(findingsOf(rule, { subject: { kind: 'Deployment', name: 'web', namespace: 'shop' }, objects })).toMatchObject([
    { state: 'expected' },
  ]);
  expectSilent(service, { subject, read: ['pods'], objects });
});

test('a log line of the scheduler counts, and its hours decide', () => {
  const situation = (hours: string) => ({
    subject: { kind: 'Deployment', name: 'web', namespace: 'shop' },
    objects: scaled({}),
    logs: [said(hours)],
  });
  expect(findingsOf(rule, situation('Mon-Fri 09:00-19:00 UTC'))).toMatchObject([{ state: 'expected' }]);
  expectSilent(rule, situation('Mon-Fri 07:00-19:00 UTC'));
});

test('stays silent where the hours say it runs now, where nothing marks it, and where it is not at zero', () => {
  const workload = { kind: 'Deployment', name: 'web', namespace: 'shop' };
  expectSilent(rule, { subject: workload, objects: marked, logs: [said('Mon-Fri 07:00-19:00 UTC')] });
  expectSilent(rule, { subject: workload, objects: scaled({}) });
  expectSilent(rule, { subject: workload, objects: deployment('web') });
});

test('the first hours after the tool itself was changed are its fault, and not those of a tool left alone', () => {
  const night = { args: ['--default-downtime=Mon-Fri 18:00-07:00 UTC'] };
  const situation = (age: number, former: object = { args: ['--default-downtime=never'] }) => ({
    subject: { kind: 'Deployment', name: 'web', namespace: 'shop' },
    objects: [
      ...marked,
      ...deployment('kube-downscaler', { namespace: 'tools', age, container: night, before: { container: former } }),
    ],
  });
  expect(findingsOf(rule, situation(180))).toMatchObject([
    { state: 'fault', owner: 'platform', root: { name: 'kube-downscaler' } },
  ]);
  expect(findingsOf(rule, situation(180, night)), 'its image alone').toMatchObject([{ state: 'expected' }]);
  expect(findingsOf(rule, situation(60 * 24 * 9))).toMatchObject([{ state: 'expected' }]);
});
