import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/apiserver-certificate-mismatch.ts';
import { log, node, pod, probe } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const untrusted =
  'E1120 08:05:00.0 1 reflector.go:205] failed to list *v1.Service: Get "https://10.0.0.2:443/api/v1/services": tls: failed to verify certificate: x509: certificate signed by unknown authority';
const pool = (name: string) => ({ labels: { 'cloud.google.com/gke-nodepool': name } });
const proxies = [
  pod('kube-proxy-a', 'n1', { namespace: 'kube-system' }),
  pod('kube-proxy-b', 'n2', { namespace: 'kube-system' }),
];

test('clients of several pools that cannot trust the API server: the vendor’s, or the platform’s on own clusters', () => {
  for (const [provider, owner] of [
    ['gke', 'cloud'],
    ['self', 'platform'],
  ] as const)
    expect(
      findingsOf(rule, {
        provider,
        subject,
        objects: [node('n1', 'True', pool('a')), node('n2', 'Unknown', pool('b')), ...proxies],
        logs: proxies.map((entry) => log(entry.metadata.name, untrusted)),
        probes: [probe(503, 'connection timeout')],
      })[0],
    ).toMatchObject({ owner, mechanism: 'certificate', strength: 'direct' });
});

test('one pool alone, with the others well: its bootstrap data', () => {
  const objects = [
    node('n1', 'False', pool('new')),
    node('n2', 'False', pool('new')),
    node('n3', 'True', pool('old')),
    ...proxies,
  ];
  expect(
    findingsOf(rule, {
      provider: 'gke',
      subject,
      objects,
      logs: proxies.map((entry) => log(entry.metadata.name, untrusted)),
      probes: [probe(200)],
    })[0],
  ).toMatchObject({ owner: 'platform', boundary: 'node' });
});

test('stays silent on one node, and on certificates of webhooks or other hosts', () => {
  const objects = [node('n1'), node('n2'), ...proxies];
  expectSilent(rule, { subject, objects, logs: [log('kube-proxy-a', untrusted)] });
  const webhook =
    'Error: failed calling webhook "v.io": failed to call webhook: Post "https://v.ns.svc/api/": x509: certificate signed by unknown authority';
  expectSilent(rule, { subject, objects, logs: proxies.map((entry) => log(entry.metadata.name, webhook)) });
  const partner = 'Get "https://partner.example.com/v1": x509: certificate has expired';
  expectSilent(rule, { subject, objects, logs: proxies.map((entry) => log(entry.metadata.name, partner)) });
});
