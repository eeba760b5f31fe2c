import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/quota-not-counted.ts';
import { at, owned } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const deployment = object('Deployment', 'orders', { namespace: 'shop', spec: { replicas: 2 } });
const set = object('ReplicaSet', 'orders-1', { namespace: 'shop', ...owned('Deployment', 'orders') });
const quota = object('ResourceQuota', 'compute', { namespace: 'shop', spec: { hard: { cpu: '10' } } });
const refused = (message: string, firstAt = at('08:15')) =>
  event(set, 'FailedCreate', `Error creating: pods "orders-1-a" is forbidden: ${message}`, {
    firstAt,
    at: at('08:28'),
    source: 'replicaset-controller',
  });
const unknown = 'status unknown for quota: compute, resources: cpu';

test('a quota that nobody counts is the control plane’s: the vendor’s or one’s own', () => {
  const of = (provider: 'eks' | 'self') =>
    findingsOf(rule, { provider, subject, objects: [deployment, set, quota, refused(unknown)] })[0];
  expect(of('eks')).toMatchObject({ owner: 'cloud', strength: 'derived', boundary: 'control-plane' });
  expect(of('self')).toMatchObject({ owner: 'platform' });
});

test('an aggregated API that is down stops the counting: the platform', () => {
  const dead = object('APIService', 'v1beta1.metrics.k8s.io', {
    status: { conditions: [condition('Available', 'False', 'MissingEndpoints')] },
  });
  expect(findingsOf(rule, { subject, objects: [deployment, set, quota, dead, refused(unknown)] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    root: { kind: 'APIService' },
  });
});

test('stays silent on a quota that is used up and on one made a moment ago', () => {
  expectSilent(rule, {
    subject,
    objects: [deployment, set, refused('exceeded quota: compute, requested: cpu=2, used: cpu=9, limited: cpu=10')],
  });
  expectSilent(rule, { subject, objects: [deployment, set, refused(unknown, at('08:28'))] });
});
