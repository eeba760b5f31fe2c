import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/aggregated-api-down.ts';
import { pod } from './control-plane.harness.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'APIService', name: 'v1.example.io' };
const service = (group: string, reason: string) =>
  object('APIService', 'v1.example.io', {
    spec: { group, service: { namespace: 'catalog', name: 'catalog' } },
    status: { conditions: [condition('Available', 'False', reason, 'no endpoints')] },
  });
const slice = (ready: boolean) =>
  object('EndpointSlice', 'catalog-1', {
    namespace: 'catalog',
    labels: { 'kubernetes.io/service-name': 'catalog' },
    endpoints: [{ conditions: { ready }, targetRef: { name: 'catalog-0' } }],
  });

test('nothing behind the APIService: whoever owns the backend', () => {
  for (const [team, owner] of [
    ['platform', 'platform'],
    ['catalog', 'app'],
  ] as const)
    expect(
      findingsOf(rule, {
        subject,
        objects: [
          service('example.io', 'MissingEndpoints'),
          slice(false),
          pod('catalog-0', 'n1', { namespace: 'catalog', ready: 'False', labels: { team } }),
        ],
      })[0],
    ).toMatchObject({ owner, strength: 'direct' });
});

test('stays silent on a ready backend that cannot be reached, and on metrics APIs', () => {
  expectSilent(rule, { subject, objects: [service('example.io', 'FailedDiscoveryCheck'), slice(true)] });
  expectSilent(rule, { subject, objects: [service('metrics.k8s.io', 'MissingEndpoints'), slice(false)] });
});
