import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/storage-cluster-full.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const pod = podOf('web', 'a', {
  ready: false,
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
});
const claim = (storageClassName: string) =>
  object('PersistentVolumeClaim', 'data', { namespace: 'shop', spec: { storageClassName } });
const manager = podOf('mgr', 'a', { namespace: 'rook-ceph' });
const objects = (storageClass: string) => [...deployment('web'), pod, manager, claim(storageClass)];

test.each([
  '2026-11-20T07:49:02.110Z cluster [ERR] Health check failed: 2 full osd(s) (OSD_FULL)',
  '2026-11-20T07:49:02.110Z cluster [WRN] Health check failed: 3 pool(s) full (POOL_FULL)',
])('storage of the cluster’s own is full: %s', (words) => {
  expect(
    findingsOf(rule, { provider: 'self', subject, objects: objects('rook-ceph-block'), logs: [logOf(manager, words)] }),
  ).toMatchObject([{ owner: 'platform', boundary: 'storage', strength: 'direct' }]);
});

test('stays silent for other storage, once cleared, and for other health checks', () => {
  const words = 'Health check failed: 2 full osd(s) (OSD_FULL)';
  expectSilent(rule, { subject, objects: objects('gp3'), logs: [logOf(manager, words)] });
  const cleared = `${words}\nHealth check cleared: OSD_FULL`;
  expectSilent(rule, { subject, objects: objects('rook-ceph-block'), logs: [logOf(manager, cleared)] });
  expectSilent(rule, {
    subject,
    objects: objects('rook-ceph-block'),
    logs: [logOf(manager, 'HEALTH_WARN clock skew')],
  });
});
