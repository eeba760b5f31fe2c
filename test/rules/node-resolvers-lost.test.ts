import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/node-resolvers-lost.ts';
import { log, node, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Namespace', name: 'kube-system' };
const patched = (name: string, level: string) => {
  const result = node(name);
  result.metadata.annotations = { 'kubernetes.azure.com/live-patching-current-timestamp': level };
  return result;
};
const dns = pod('coredns-a', 'n1', { namespace: 'kube-system', ready: 'False', labels: { 'k8s-app': 'kube-dns' } });
const check = (name: string, at: string) => pod(name, at, { namespace: 'kube-system' });
const loop = log('coredns-a', '[FATAL] plugin/loop: Loop (127.0.0.1:1 -> :53) detected for zone "."');
const logs = [
  loop,
  log('check-1', '2026-11-20T07:24:00Z resolv CHANGED content="# No DNS servers known."'),
  log('check-2', '2026-11-20T08:25:00Z resolv ok servers=168.63.129.16'),
];

test('exactly the nodes of one patch level have no DNS servers: the vendor’s, with the platform’s workaround', () => {
  const [finding] = findingsOf(rule, {
    provider: 'aks',
    subject,
    objects: [
      patched('n1', '20261120'),
      patched('n2', '20261120'),
      patched('n3', '20261112'),
      dns,
      check('check-1', 'n2'),
      check('check-2', 'n3'),
    ],
    logs,
  });
  expect(finding).toMatchObject({ owner: 'cloud', boundary: 'dns' });
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('without such a mark it is the platform’s configuration', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [node('n1'), node('n2'), dns, object('ConfigMap', 'coredns', { namespace: 'kube-system' })],
      logs: [loop],
    })[0],
  ).toMatchObject({ owner: 'platform' });
});

test('stays silent when resolvers only answer NXDOMAIN', () => {
  expectSilent(rule, {
    subject,
    objects: [node('n1'), dns],
    logs: [log('coredns-a', '[INFO] 10.0.0.1:1 - 1 "A IN x.shop.svc. udp" NXDOMAIN')],
  });
});
