import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/cloud-endpoint-bypassed.ts';
import { alert, at, series } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const alerts = [alert('NatGatewayTrafficHigh')];
const endpoints = (RouteTableIds: string[]) => ({
  call: 'ec2.describeVpcEndpoints',
  answer: {
    VpcEndpoints: [
      { VpcEndpointId: 'vpce-1', VpcEndpointType: 'Gateway', ServiceName: 'com.amazonaws.x.s3', RouteTableIds },
    ],
  },
});
const tables = {
  call: 'ec2.describeRouteTables',
  answer: {
    RouteTables: [{ RouteTableId: 'rtb-a', Routes: [{ DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1' }] }],
  },
};
const trail = (EventName: string, requestParameters: unknown, time = at('06:00')) => ({
  call: 'cloudtrail.lookupEvents',
  answer: {
    Events: [
      {
        EventName,
        EventTime: time,
        Username: 'vpc-apply',
        CloudTrailEvent: JSON.stringify({ userIdentity: {}, requestParameters }),
      },
    ],
  },
});
const bytes = (values: number[]) => ({
  namespace: 'AWS/NATGateway',
  metric: 'BytesOutToDestination',
  dimensions: { NatGatewayId: 'nat-1' },
  stat: 'Sum',
  periodSeconds: 3600,
  points: values.map((value, index): [string, number] => [at(`0${index}:30`), value]),
});
const jumped = [bytes([10, 10, 10, 10, 10, 10, 40, 40])];
const removed = trail('ModifyVpcEndpoint', { ModifyVpcEndpointRequest: { RemoveRouteTableId: ['rtb-a'] } });

test('route tables taken off an endpoint, an endpoint deleted, or a table that never led there', () => {
  const platform = { owner: 'platform', boundary: 'network' };
  expect(
    findingsOf(rule, { subject, alerts, cloud: [endpoints(['rtb-z']), tables, removed], cloudWatch: jumped })[0],
  ).toMatchObject({ ...platform, strength: 'direct', root: { name: 'vpce-1' } });
  const deleted = trail('DeleteVpcEndpoints', { VpcEndpointId: ['vpce-9'] });
  expect(findingsOf(rule, { subject, alerts, cloud: [deleted], cloudWatch: jumped })[0]).toMatchObject(platform);
  expect(findingsOf(rule, { subject, alerts, cloud: [endpoints([]), tables], cloudWatch: jumped })[0]).toMatchObject({
    ...platform,
    strength: 'derived',
  });
});

test('silent where pods move more, the way is whole, the change is another day’s, or the alert is about something else', () => {
  const cloud = [endpoints(['rtb-z']), tables, removed];
  const more = [series('container_network_receive_bytes_total_rate', { namespace: 'a' }, [1, 1, 1, 1, 4, 4, 4, 4])];
  expectSilent(rule, { subject, alerts, cloud, cloudWatch: jumped, series: more });
  expectSilent(rule, { subject, alerts, cloud: [endpoints(['rtb-a']), tables], cloudWatch: jumped });
  const old = trail('ModifyVpcEndpoint', { RemoveRouteTableId: ['rtb-a'] }, '2026-11-01T00:00:00Z');
  expectSilent(rule, { subject, alerts, cloud: [endpoints(['rtb-a']), tables, old], cloudWatch: jumped });
  expectSilent(rule, { subject, alerts: [alert('KubeNodeNotReady')], cloud, cloudWatch: jumped });
});
