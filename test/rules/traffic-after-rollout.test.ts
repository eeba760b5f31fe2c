import { expect, test } from 'vitest';
import rule from '../../src/rules/app/traffic-after-rollout.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const alert = {
  status: 'firing' as const,
  labels: { alertname: 'NatGatewayTraffic' },
  annotations: { summary: 'NAT traffic up' },
  startsAt: '2026-11-20T06:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'f',
};
const subject = { kind: 'Cluster' };
const cache = (value: string) => ({ env: [{ name: 'CACHE', value }] });
const fetcher = deployment('fetcher', { age: 60 * 30, container: cache('off'), before: { container: cache('on') } });
const bytes = (name: string, perStep: number, metric = 'container_network_receive_bytes_total') =>
  series(
    metric,
    { namespace: 'shop', pod: `${name}-2-a` },
    [0, 1, 2, 3, 4, 5, 6, 7].map((step) => step * perStep),
  );
const objects = [...fetcher, podOf('fetcher', 'a'), ...deployment('api', { age: 60 * 24 * 60 }), podOf('api', 'a')];

test('the workload whose bytes dominate and that was rolled out lately explains the jump, in either direction', () => {
  for (const metric of ['container_network_receive_bytes_total', 'container_network_transmit_bytes_total']) {
    const [finding] = findingsOf(rule, {
      subject,
      alerts: [alert],
      objects,
      series: [bytes('fetcher', 9e9, metric), bytes('api', 1e9, metric)],
    });
    expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', strength: 'direct', affects: 'cluster' });
    expect(finding?.cause.en).toContain('env CACHE on → off');
  }
});

test('stays silent where the bytes are spread, where nothing changed, and for other alerts', () => {
  expectSilent(rule, {
    subject,
    alerts: [alert],
    objects,
    series: [bytes('fetcher', 1e9), bytes('api', 1.2e9)].reverse(),
  });
  expectSilent(rule, { subject, alerts: [alert], objects, series: [bytes('fetcher', 1e9), bytes('api', 9e9)] });
  expectSilent(rule, { subject, objects, series: [bytes('fetcher', 9e9)] });
});
