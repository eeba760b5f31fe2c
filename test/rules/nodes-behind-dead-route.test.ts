import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodes-behind-dead-route.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { claim, pool, subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const lost = claim('default-abcde', 'default', {
  age: 12,
  conditions: [condition('Launched', 'True'), condition('Registered', 'Unknown', 'NodeNotFound')],
});
const routes = (state: string, destination = '0.0.0.0/0', associations: any[] = [{ SubnetId: 'subnet-1' }]) => ({
  call: 'ec2.describeRouteTables',
  answer: {
    RouteTables: [
      {
        RouteTableId: 'rtb-1',
        Associations: associations,
        Routes: [{ DestinationCidrBlock: destination, NatGatewayId: 'nat-1', State: state }],
      },
    ],
  },
});
const objects = [pod, pool('default'), lost];

test('machines never join behind a default route whose gateway is gone', () => {
  expect(findingsOf(rule, { subject, objects, cloud: [routes('blackhole')] })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'network',
    strength: 'direct',
  });
  const gone = pool('default', { conditions: [condition('NodeRegistrationHealthy', 'False', 'RegistrationFailed')] });
  expect(findingsOf(rule, { subject, objects: [pod, gone], cloud: [routes('blackhole')] })).toHaveLength(1);
});

test('silent where the route lives, is used by nobody or leads elsewhere, and where machines join', () => {
  expectSilent(rule, { subject, objects, cloud: [routes('active')] });
  expectSilent(rule, { subject, objects, cloud: [routes('blackhole', '0.0.0.0/0', [])] });
  expectSilent(rule, { subject, objects, cloud: [routes('blackhole', '10.9.0.0/16')] });
  expectSilent(rule, {
    subject,
    objects: [pod, pool('default'), claim('default-abcde', 'default')],
    cloud: [routes('blackhole')],
  });
});
