import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-dns-cache-missing.ts';
import { log, node, owned, pod } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const web = pod('web-1', 'n2');
const set = object('DaemonSet', 'node-local-dns', {
  namespace: 'kube-system',
  spec: { template: { spec: { tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }] } } },
});
const cache = (name: string, on: string) =>
  pod(name, on, {
    namespace: 'kube-system',
    labels: { 'k8s-app': 'node-local-dns' },
    ...owned('DaemonSet', 'node-local-dns'),
  });
const tainted = node('n2', 'True', { spec: { taints: [{ key: 'pool', value: 'burst', effect: 'NoSchedule' }] } });
const refused = log('web-1', 'lookup db on 169.254.20.10:53: read: connection refused', 'shop');

test('the cache does not run where the pods ask it, because it does not tolerate a taint', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [web, node('n1'), tainted, set, cache('node-local-dns-1', 'n1')],
    logs: [refused],
  });
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'dns', strength: 'direct' });
  expect(finding?.cause.en).toContain('pool=burst:NoSchedule');
});

test('no cache anywhere, though the pods are told to ask one', () => {
  expect(
    findingsOf(rule, {
      subject,
      objects: [web, node('n2')],
      logs: [log('web-1', 'dial udp 169.254.25.10:53: i/o timeout', 'shop')],
    })[0],
  ).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('stays silent where the cache runs on the node, and where cluster DNS itself is asked', () => {
  expectSilent(rule, {
    subject,
    objects: [web, tainted, set, cache('node-local-dns-2', 'n2')],
    logs: [refused],
  });
  expectSilent(rule, {
    subject,
    objects: [web, tainted, set],
    logs: [log('web-1', 'lookup db on 10.100.0.10:53: i/o timeout', 'shop')],
  });
});
