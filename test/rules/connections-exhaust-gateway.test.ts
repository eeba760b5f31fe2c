import { expect, test } from 'vitest';
import rule from '../../src/rules/app/connections-exhaust-gateway.ts';
import { at, log, owned, pod, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'mail', namespace: 'shop' } as const;
const workloads = ['mail', 'crawler'].flatMap((name) => [
  object('Deployment', name, { namespace: 'shop' }),
  object('ReplicaSet', `${name}-1`, {
    namespace: 'shop',
    creationTimestamp: at('06:00'),
    annotations: { 'deployment.kubernetes.io/revision': '1' },
    ...owned('Deployment', name),
  }),
  pod(`${name}-1-a`, 'n1', owned('ReplicaSet', `${name}-1`)),
]);
const refused = (values: number[]) => [
  {
    namespace: 'AWS/NATGateway',
    metric: 'ErrorPortAllocation',
    dimensions: { NatGatewayId: 'nat-0a1' },
    stat: 'Sum',
    periodSeconds: 60,
    points: values.map((value, index): [string, number] => [at(`08:${20 + index}`), value]),
  },
];
const failing = refused([0, 0, 120, 340, 90]);
const flat = Array.from({ length: 12 }, () => 40);
const risen = [...Array.from({ length: 6 }, () => 50), ...Array.from({ length: 6 }, () => 24_000)];
const gauge = (name: string, values: number[], metric = 'http_client_open_connections') =>
  series(metric, { namespace: 'shop', pod: `${name}-1-a` }, values);

test('the workload whose connections multiplied, also where another is the subject', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: workloads,
    cloudWatch: failing,
    series: [gauge('mail', flat), gauge('crawler', risen)],
    logs: [log('mail-1-a', 'dial tcp 203.0.113.9:443: i/o timeout', 'shop')],
  });
  expect(finding!.affects).toContainEqual(expect.objectContaining({ kind: 'Deployment', name: 'mail' }));
  expect(finding).toMatchObject({ owner: 'app', boundary: 'traffic', strength: 'derived', root: { name: 'crawler' } });
  expect(finding!.contributing).toMatchObject([{ owner: 'platform' }]);
});

test('by bytes where no connections are measured, and since its rollout', () => {
  let counted = 0;
  const bytes = risen.map((value) => (counted += value * 1000));
  const next = object('ReplicaSet', 'crawler-2', {
    namespace: 'shop',
    creationTimestamp: at('08:18'),
    annotations: { 'deployment.kubernetes.io/revision': '2' },
    ...owned('Deployment', 'crawler'),
  });
  const [finding] = findingsOf(rule, {
    subject,
    objects: [...workloads, next],
    cloudWatch: failing,
    series: [
      gauge(
        'mail',
        flat.map((_, index) => index * 1000),
        'container_network_transmit_bytes_total',
      ),
      gauge('crawler', bytes, 'container_network_transmit_bytes_total'),
    ],
  });
  expect(finding).toMatchObject({ root: { name: 'crawler' }, onset: at('08:18') });
});

test('stays silent where the gateway has ports, growth is spread, or nothing is measured', () => {
  const list = [gauge('mail', flat), gauge('crawler', risen)];
  expectSilent(rule, { subject, objects: workloads, cloudWatch: refused([0, 0, 0, 0, 0]), series: list });
  expectSilent(rule, {
    subject,
    objects: workloads,
    cloudWatch: failing,
    series: [gauge('mail', flat), gauge('crawler', flat)],
  });
  expectSilent(rule, { subject, objects: workloads, cloudWatch: failing });
});
