import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-routes-missing.ts';
import { node, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'orders-0', namespace: 'shop' } as const;
const unrouted = (reason = 'NoRouteCreated') =>
  node('n1', 'True', {
    conditions: [condition('NetworkUnavailable', 'True', reason, 'RouteController failed to create a route')],
  });
const waiting = pod('orders-0', undefined);
const says = (reason: string, message: string) => event(unrouted(), reason, message, { source: 'route_controller' });
const of = (...objects: any[]) => findingsOf(rule, { provider: 'self', subject, objects: [waiting, ...objects] })[0];

test('a route that the cloud refuses is the platform’s, an error of the cloud’s own the cloud’s', () => {
  const full = says(
    'FailedToCreateRoute',
    'Could not create route 5c… 100.96.1.0/24 for node n1: RouteLimitExceeded: The maximum number of routes has been reached.',
  );
  expect(of(unrouted(), full)).toMatchObject({ owner: 'platform', strength: 'direct', boundary: 'network' });
  const error = says('FailedToCreateRoute', 'Could not create route for node n1: googleapi: Error 503: backendError');
  expect(of(unrouted(), error)).toMatchObject({ owner: 'cloud' });
  expect(of(unrouted())).toMatchObject({ owner: 'platform', strength: 'derived' });
});

test('the pod range of the cluster is used up', () => {
  expect(of(node('n1'), says('CIDRNotAvailable', 'Node n1 status is now: CIDRNotAvailable'))).toMatchObject({
    owner: 'platform',
    mechanism: 'address-exhaustion',
  });
});

test('stays silent on an agent’s own reason, a range that was given since, and routed nodes', () => {
  expectSilent(rule, { subject, objects: [waiting, unrouted('CalicoIsDown')] });
  expectSilent(rule, {
    subject,
    objects: [
      waiting,
      node('n1', 'True', { spec: { podCIDR: '100.96.1.0/24' } }),
      says('CIDRNotAvailable', 'Node n1 status is now: CIDRNotAvailable'),
    ],
  });
  expectSilent(rule, {
    subject,
    objects: [waiting, node('n1', 'True', { conditions: [condition('NetworkUnavailable', 'False', 'RouteCreated')] })],
  });
});
