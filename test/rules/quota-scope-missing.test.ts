import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/quota-scope-missing.ts';
import { at, owned } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';

const subject = { kind: 'Deployment', name: 'orders', namespace: 'shop' } as const;
const deployment = (priorityClassName?: string) =>
  object('Deployment', 'orders', { namespace: 'shop', spec: { template: { spec: { priorityClassName } } } });
const set = object('ReplicaSet', 'orders-1', { namespace: 'shop', ...owned('Deployment', 'orders') });
const refused = (message: string) =>
  event(set, 'FailedCreate', `Error creating: pods "orders-1-a" is forbidden: ${message}`, {
    at: at('08:28'),
    source: 'replicaset-controller',
  });

test('a priority or resource that only a quota grants: the platform gives it, the team may ask for less', () => {
  const [scoped] = findingsOf(rule, {
    subject,
    objects: [
      deployment('high'),
      set,
      refused('insufficient quota to match these scopes: [{PriorityClass In [high]}]'),
    ],
  });
  expect(scoped).toMatchObject({ owner: 'platform', boundary: 'quota', contributing: [{ owner: 'app' }] });
  expect(scoped!.cause.en).toContain('PriorityClass In [high]');
  expect(
    findingsOf(rule, {
      subject,
      objects: [deployment(), set, refused('insufficient quota to consume: requests.nvidia.com/gpu')],
    })[0],
  ).toMatchObject({ owner: 'platform', contributing: [] });
});

test('stays silent on a quota that is used up, one that asks for requests, and a missing class', () => {
  for (const message of [
    'exceeded quota: compute, requested: cpu=2, used: cpu=9, limited: cpu=10',
    'failed quota: compute: must specify limits.cpu',
    'no PriorityClass with name high was found',
  ])
    expectSilent(rule, { subject, objects: [deployment('high'), set, refused(message)] });
});
