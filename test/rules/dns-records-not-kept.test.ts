import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/dns-records-not-kept.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, logOf, podOf } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const alerts = [
  {
    fingerprint: 'a',
    status: 'firing' as const,
    labels: { alertname: 'ProbeFailed', namespace: 'shop' },
    annotations: { description: 'https://web.shop.example.com: no such host' },
    startsAt: '2026-11-20T08:00:00Z',
  },
] as any;
const writer = (ready: boolean) => podOf('external-dns', 'a', { namespace: 'external-dns', ready });
const base = [...deployment('web'), ...deployment('external-dns', { namespace: 'external-dns' })];
const ingress = (host: string) => object('Ingress', 'web', { namespace: 'shop', spec: { rules: [{ host }] } });
const deleted = 'level=info msg="Desired change: DELETE web.shop.example.com A"';

test('a record deleted although its Ingress is there, and a writer that is down, are the platform’s', () => {
  const well = writer(true);
  const objects = [...base, well, ingress('web.shop.example.com')];
  expect(
    findingsOf(rule, { subject, alerts, read: ['ingresses'], objects, logs: [logOf(well, deleted)] }),
  ).toMatchObject([{ owner: 'platform', boundary: 'dns' }]);
  const sick = writer(false);
  const pull = event(sick, 'Failed', 'Failed to pull image "registry.example/external-dns:1": not found in registry');
  expect(findingsOf(rule, { subject, alerts, objects: [...base, sick, pull] })).toMatchObject([
    { owner: 'platform', boundary: 'image' },
  ]);
});

test('a record deleted with its Ingress gone names nobody', () => {
  const well = writer(true);
  expect(
    findingsOf(rule, { subject, alerts, read: ['ingresses'], objects: [...base, well], logs: [logOf(well, deleted)] }),
  ).toMatchObject([{ owner: 'undetermined' }]);
});

test('stays silent where the writer is well, and for an alert about something else', () => {
  const well = writer(true);
  expectSilent(rule, { subject, alerts, objects: [...base, well] });
  expectSilent(rule, { subject, objects: [...base, writer(false)] });
});
