import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/managed-component-not-scraped.ts';
import { alert, at, lease, probe } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('KubeSchedulerDown'), alert('KubeControllerManagerDown')];
const fresh = [
  lease('kube-scheduler', at('08:30'), 'kube-system'),
  lease('kube-controller-manager', at('08:30'), 'kube-system'),
];

test('is expected on every managed provider while the leases are fresh', () => {
  for (const provider of ['eks', 'gke', 'aks', 'ack'] as const) {
    const [finding] = findingsOf(rule, { provider, subject, alerts, objects: fresh, probes: [probe(200)] });
    expect(finding).toMatchObject({ state: 'expected', strength: 'direct' });
    expect(finding?.evidence.map((entry) => entry.field)).toContain('spec.renewTime');
  }
});

test('on a self-managed cluster a fresh lease makes it a matter of scraping', () => {
  const [finding] = findingsOf(rule, { provider: 'self', subject, alerts, objects: fresh, probes: [probe(200)] });
  expect(finding).toMatchObject({ state: 'fault', owner: 'platform', boundary: 'config' });
});

test('stays silent when a lease is stale or the API server is not ready', () => {
  expectSilent(rule, {
    subject,
    alerts,
    objects: [lease('kube-scheduler', at('08:00'), 'kube-system')],
    probes: [probe(200)],
  });
  expectSilent(rule, { subject, alerts, objects: fresh, probes: [probe(500, '[-]etcd failed: reason withheld')] });
});
