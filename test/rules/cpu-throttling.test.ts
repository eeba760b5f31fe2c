import { expect, test } from 'vitest';
import rule from '../../src/rules/app/cpu-throttling.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const container = { resources: { limits: { cpu: '500m' } } };
const app = deployment('web', { container });
const pod = podOf('web', 'a', { container });
const subject = { kind: 'Pod', name: 'web-2-a', namespace: 'shop', container: 'app' };
const alert = {
  status: 'firing' as const,
  labels: { alertname: 'CPUThrottlingHigh', namespace: 'shop', pod: 'web-2-a', container: 'app' },
  annotations: {},
  startsAt: '2026-11-20T08:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'f',
};
const latency = (values: number[]) =>
  series('http_request_duration_p95_seconds', { namespace: 'shop', service: 'web' }, values);

test('throttling at flat latency is expected; with latency that grew it is a limit too low', () => {
  const calm = findingsOf(rule, {
    subject,
    alerts: [alert],
    objects: [...app, pod],
    series: [latency([0.18, 0.18, 0.19, 0.18, 0.18, 0.18, 0.18, 0.18])],
  });
  expect(calm[0]).toMatchObject({ state: 'expected', strength: 'direct' });
  expect(calm[0]?.deadline).toBeDefined();
  const slow = findingsOf(rule, {
    subject,
    alerts: [alert],
    objects: [...app, pod],
    series: [latency([0.18, 0.18, 0.2, 0.3, 0.5, 0.8, 0.9, 0.9])],
  });
  expect(slow[0]).toMatchObject({ state: 'fault', owner: 'app', boundary: 'config' });
});

test('stays silent without a limit, and without throttling in alert or metrics', () => {
  expectSilent(rule, { subject, alerts: [alert], objects: [...deployment('web'), podOf('web', 'a')] });
  expectSilent(rule, { subject, objects: [...app, pod] });
});
