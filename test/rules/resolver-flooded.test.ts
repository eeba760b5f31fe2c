import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/resolver-flooded.ts';
import { alert, log, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { deployment, podOf, series } from './workloads.ts';

const subject = { kind: 'Service', name: 'kube-dns', namespace: 'kube-system' };
const alerts = [alert('CoreDNSLatencyHigh', {}, 'CoreDNS has extremely high latency')];
const resolver = pod('coredns-1', 'n1', { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } });
const calm = [900, 910, 900, 905, 900, 900];
const asked = (values: number[]) => series('coredns_dns_requests_total:rate5m', { pod: 'coredns-1' }, values);
const flooded = asked([...calm, 20000, 21000, 21000, 21000, 21000, 21000]);
const client = { ...podOf('enricher', 'a', { status: {} }) };
client.status = { ...client.status, podIP: '10.0.0.9' };
const queries = log(
  'coredns-1',
  Array.from(
    { length: 8 },
    (_, index) => `[INFO] 10.0.0.9:4201${index} - 18111 "A IN api.example.org. udp 76 false 1232" NXDOMAIN qr 158 0.4s`,
  ).join('\n'),
);

test('the client that asks most, with its rollout where it has one', () => {
  const objects = [
    resolver,
    client,
    ...deployment('enricher', {
      container: { env: [{ name: 'DNS_CACHE', value: 'off' }] },
      before: { container: { env: [{ name: 'DNS_CACHE', value: '60s' }] } },
    }),
  ];
  const [finding] = findingsOf(rule, { subject, alerts, objects, series: [flooded], logs: [queries] });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'dns', strength: 'direct' });
  expect(finding?.cause.en).toContain('DNS_CACHE');
  expect(
    findingsOf(rule, {
      subject,
      alerts,
      objects: [resolver, client, ...deployment('enricher')],
      series: [flooded],
      logs: [queries],
    })[0],
  ).toMatchObject({ owner: 'app', strength: 'derived' });
});

test('names nobody without the query log', () => {
  expect(findingsOf(rule, { subject, alerts, objects: [resolver], series: [flooded] })[0]).toMatchObject({
    owner: 'undetermined',
  });
});

test('stays silent while the questions are as before, or a resolver is down', () => {
  expectSilent(rule, { subject, alerts, objects: [resolver, client], series: [asked([...calm, ...calm])] });
  const down = pod('coredns-2', 'n1', {
    namespace: 'kube-system',
    ready: 'False',
    labels: { 'k8s-app': 'kube-dns' },
  });
  expectSilent(rule, { subject, alerts, objects: [resolver, down, client], series: [flooded], logs: [queries] });
});
