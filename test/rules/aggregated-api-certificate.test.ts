import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/aggregated-api-certificate.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const service = (
  name: string,
  group: string,
  message: string,
  namespace = 'kube-system',
  reason = 'FailedDiscoveryCheck',
) =>
  object('APIService', name, {
    spec: { group, service: { namespace, name: 'backend' }, caBundle: 'LS0t' },
    status: { conditions: [condition('Available', 'False', reason, message)] },
  });
const failing = (why: string) =>
  `failing or missing response from https://10.0.3.7:443/apis/example.io/v1: Get "https://10.0.3.7:443/apis/example.io/v1": ${why}`;

test.each([
  'x509: certificate has expired or is not yet valid: current time 2026-11-20T08:00:00Z is after 2026-11-19T00:00:00Z',
  'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  'x509: certificate is valid for old.kube-system.svc, not backend.kube-system.svc',
])('a certificate that the API server refuses: whoever serves behind it (%s)', (why) => {
  const subject = { kind: 'APIService', name: 'v1.example.io' } as const;
  expect(
    findingsOf(rule, { subject, objects: [service('v1.example.io', 'example.io', failing(why))] })[0],
  ).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    boundary: 'control-plane',
  });
  expect(
    findingsOf(rule, { subject, objects: [service('v1.example.io', 'example.io', failing(why), 'catalog')] })[0],
  ).toMatchObject({ owner: 'app' });
});

test('behind the metrics API the autoscalers are the victims', () => {
  const hpa = object('HorizontalPodAutoscaler', 'web', { namespace: 'shop' });
  const subject = { kind: 'HorizontalPodAutoscaler', name: 'web', namespace: 'shop' } as const;
  const broken = service('v1beta1.metrics.k8s.io', 'metrics.k8s.io', failing('x509: certificate has expired'));
  const [finding] = findingsOf(rule, { subject, objects: [hpa, broken] });
  expect(finding).toMatchObject({ boundary: 'autoscaling' });
  expect(finding!.affects).toContainEqual(expect.objectContaining({ kind: 'HorizontalPodAutoscaler', name: 'web' }));
});

test('stays silent on a timeout, missing endpoints, and an API that is available', () => {
  const subject = { kind: 'APIService', name: 'v1.example.io' } as const;
  for (const message of [failing('context deadline exceeded'), 'endpoints for service/backend have no addresses'])
    expectSilent(rule, { subject, objects: [service('v1.example.io', 'example.io', message)] });
  const well = object('APIService', 'v1.example.io', {
    spec: { group: 'example.io', service: { namespace: 'kube-system', name: 'backend' } },
    status: { conditions: [condition('Available', 'True', 'Passed', 'all checks passed')] },
  });
  expectSilent(rule, { subject, objects: [well] });
});
