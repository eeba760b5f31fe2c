import { expect, test } from 'vitest';
import rule from '../../src/rules/app/load-grew.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const subject = { kind: 'Service', name: 'web', namespace: 'shop' };
const objects = [...deployment('web'), podOf('web', 'a')];
const alert = (alertname: string) => ({
  status: 'firing' as const,
  labels: { alertname },
  annotations: {},
  startsAt: '2026-11-20T08:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'f',
});
const requests = (values: number[]) => series('http_requests_total', { namespace: 'shop', service: 'web' }, values);

test('requests that multiplied are a likely cause, no certain one', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects,
    alerts: [alert('LatencyHigh')],
    series: [requests([0, 1, 2, 3, 6, 10, 15, 21])],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', strength: 'circumstantial' });
});

test('stays silent at flat traffic and for alerts that load cannot raise', () => {
  expectSilent(rule, {
    subject,
    objects,
    alerts: [alert('LatencyHigh')],
    series: [requests([0, 1, 2, 3, 4, 5, 6, 7])],
  });
  expectSilent(rule, {
    subject,
    objects,
    alerts: [alert('CertificateExpires')],
    series: [requests([0, 1, 2, 3, 6, 10, 15, 21])],
  });
});
