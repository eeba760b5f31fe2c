import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/certificate-not-issued.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment } from './workloads.ts';

const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const alerts = [
  {
    fingerprint: 'a',
    status: 'firing',
    labels: { alertname: 'CertNotReady', namespace: 'shop', name: 'web-tls' },
    annotations: {},
    startsAt: '2026-11-20T08:00:00Z',
  },
] as any;
const certificate = (message: string, issuer = 'ClusterIssuer') =>
  object('Certificate', 'web-tls', {
    namespace: 'shop',
    spec: { issuerRef: { kind: issuer, name: 'authority' } },
    status: {
      conditions: [condition('Ready', 'False', 'DoesNotExist'), condition('Issuing', 'False', 'Failed', message)],
    },
  });

test.each([
  [
    '429 rateLimited: too many certificates (5) already issued for this exact set of identifiers',
    'ClusterIssuer',
    'app',
  ],
  ['400 urn:ietf:params:acme:error:rejectedIdentifier: invalid domain name', 'ClusterIssuer', 'app'],
  ['presenting challenge: route53: AccessDenied: not authorized', 'ClusterIssuer', 'platform'],
  ['presenting challenge: invalid API token', 'Issuer', 'app'],
  ['429 rateLimited: too many certificates already issued for example.com', 'ClusterIssuer', 'undetermined'],
])('whose the refusal is: %s (%s) → %s', (message, issuer, owner) => {
  expect(
    findingsOf(rule, { subject, alerts, objects: [...deployment('web'), certificate(message, issuer)] }),
  ).toMatchObject([{ owner, root: { kind: 'Certificate' } }]);
});

test('stays silent for an unknown reason, and where the alert is about something else', () => {
  expectSilent(rule, {
    subject,
    alerts,
    objects: [...deployment('web'), certificate('Issuing certificate as Secret does not exist')],
  });
  expectSilent(rule, { subject, objects: [...deployment('web'), certificate('rejectedIdentifier')] });
});
