import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/control-plane-unhealthy.ts';
import { at, log, probe, series } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Cluster' };
const etcdDown = probe(500, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed', 30000);
const timeout = 'E error retrieving resource lock: etcdserver: request timed out';

test('a failing etcd check is the vendor’s on managed clusters and the platform’s on own ones', () => {
  for (const [provider, owner] of [
    ['eks', 'cloud'],
    ['gke', 'cloud'],
    ['aks', 'cloud'],
    ['self', 'platform'],
  ] as const)
    expect(
      findingsOf(rule, { provider, subject, probes: [etcdDown], logs: [log('karpenter-1', timeout)] })[0],
    ).toMatchObject({ owner, mechanism: 'etcd', strength: 'direct' });
});

test('a front end that answers for an API server that is gone', () => {
  const gone = probe(
    503,
    'upstream connect error or disconnect/reset before headers. reset reason: connection timeout',
    8200,
  );
  expect(findingsOf(rule, { provider: 'gke', subject, probes: [gone] })[0]).toMatchObject({
    owner: 'cloud',
    mechanism: 'control-plane',
  });
});

test('one client’s etcd timeout while readiness is fine proves nothing', () => {
  expectSilent(rule, { subject, probes: [probe(200)], logs: [log('karpenter-1', timeout)] });
});

test('stays silent when etcd is full or filling: whose objects is another question', () => {
  expectSilent(rule, {
    subject,
    probes: [etcdDown],
    logs: [log('argo-1', 'etcdserver: mvcc: database space exceeded')],
  });
  expectSilent(rule, {
    subject,
    probes: [etcdDown],
    series: [
      series('apiserver_storage_size_bytes', {}, [1e9, 4e9, 8e9]),
      series('apiserver_storage_objects', { resource: 'workflows.argoproj.io' }, [20, 300, 900]),
    ],
  });
});

test('stays silent when only start hooks fail and an own webhook cannot be called', () => {
  const set = object('DaemonSet', 'proxy', { namespace: 'kube-system' });
  expectSilent(rule, {
    subject,
    probes: [probe(500, '[+]etcd ok\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld')],
    objects: [
      set,
      event(
        set,
        'FailedCreate',
        'Error creating: Internal error occurred: failed calling webhook "v.example.io": context deadline exceeded',
        { at: at('08:25') },
      ),
    ],
  });
});
