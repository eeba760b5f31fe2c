import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/etcd-space-exceeded.ts';
import { log, probe, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Cluster' };
const full = log(
  'argo-1',
  'level=warning msg="Error updating workflow: etcdserver: mvcc: database space exceeded" namespace=desk workflow=nightly-1 size=1400000',
  'argo',
);
const size = series('apiserver_storage_size_bytes', {}, [1e9, 5e9, 8.5e9]);
const stored = (resource: string, values: number[]) => series('apiserver_storage_objects', { resource }, values);

test('big objects of one tenant’s namespace are the tenant’s, with the platform’s share named', () => {
  const workflow = object('Workflow', 'nightly-1', { namespace: 'desk', labels: { team: 'quant' } });
  const [finding] = findingsOf(rule, {
    provider: 'ack',
    subject,
    logs: [full],
    objects: [workflow],
    series: [size, stored('workflows.argoproj.io', [20, 520]), stored('events', [3000, 9000])],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'etcd', strength: 'direct' });
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('objects an add-on writes by itself are the platform’s', () => {
  for (const resource of [
    'ephemeralreports.reports.kyverno.io',
    'vulnerabilityreports.aquasecurity.github.io',
    'applications.argoproj.io',
  ])
    expect(
      findingsOf(rule, {
        subject,
        logs: [full],
        series: [size, stored(resource, [1e5, 2e6]), stored('pods', [100, 100])],
      })[0],
    ).toMatchObject({ owner: 'platform' });
});

test('the most numerous objects need not be the biggest', () => {
  const [finding] = findingsOf(rule, {
    subject,
    logs: [full],
    series: [size, stored('workflows.argoproj.io', [20, 900]), stored('pods', [100, 1400])],
  });
  expect(finding?.cause.en).toContain('workflows.argoproj.io');
});

test('without object counts it names the read that would settle it', () => {
  const plain = log('argocd-1', 'Failed to update application status: etcdserver: mvcc: database space exceeded');
  const [finding] = findingsOf(rule, { subject, logs: [plain], series: [size], denied: ['taskruns'] });
  expect(finding).toMatchObject({ owner: 'undetermined' });
  expect(finding?.missing.map((entry) => entry.missing).join()).toContain('apiserver_storage_objects');
});

test('without counts, refused writes of huge objects of one namespace are a clue, not a proof', () => {
  expect(findingsOf(rule, { subject, logs: [full], series: [size] })[0]).toMatchObject({
    owner: 'app',
    strength: 'derived',
  });
});

test('an etcd that only times out while objects pile up is the same trouble; without them it is not', () => {
  const probes = [probe(500, '[-]etcd failed: reason withheld')];
  expect(
    findingsOf(rule, { subject, probes, series: [size, stored('kyverno.policyreports.wgpolicyk8s.io', [10, 90000])] }),
  ).toHaveLength(1);
  expectSilent(rule, { subject, probes, series: [series('apiserver_storage_size_bytes', {}, [1e9, 1e9])] });
});
