import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/egress-gateway-failed.ts';
import { at, log, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const web = pod('web-1', 'n1', { ready: 'False' });
const pull = event(web, 'Failed', 'Failed to pull image "r/x": dial tcp 52.1.1.1:443: i/o timeout');
const tables = (State: string) => ({
  call: 'ec2.describeRouteTables',
  answer: {
    RouteTables: [
      { RouteTableId: 'rtb-1', Routes: [{ DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1', State }] },
    ],
  },
});
const ports = (value: number) => ({
  namespace: 'AWS/NATGateway',
  metric: 'ErrorPortAllocation',
  dimensions: { NatGatewayId: 'nat-1' },
  stat: 'Sum',
  periodSeconds: 60,
  points: [[at('08:20'), value]] as [string, number][],
});

test('a blackhole, a failed gateway, no ports left', () => {
  expect(findingsOf(rule, { subject, objects: [web, pull], cloud: [tables('blackhole')] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  const failed = {
    call: 'ec2.describeNatGateways',
    answer: { NatGateways: [{ NatGatewayId: 'nat-1', State: 'failed', FailureMessage: 'Elastic IP disassociated' }] },
  };
  expect(findingsOf(rule, { subject, objects: [web, pull], cloud: [tables('active'), failed] })[0]?.cause.en).toContain(
    'Elastic IP',
  );
  expect(
    findingsOf(rule, {
      subject,
      objects: [web],
      logs: [log('web-1', 'dial tcp 52.1.1.1:443: i/o timeout', 'shop')],
      cloudWatch: [ports(40)],
    })[0],
  ).toMatchObject({ strength: 'derived' });
});

test('points in CloudWatch’s own order, newest first', () => {
  const course = (values: number[]) => ({
    ...ports(0),
    points: values.map((value, index): [string, number] => [at(`08:${25 - index * 2}`), value]),
  });
  const logs = [log('web-1', 'dial tcp 52.1.1.1:443: i/o timeout', 'shop')];
  const found = findingsOf(rule, { subject, objects: [web], logs, cloudWatch: [course([812, 812, 0, 0, 0, 0, 0])] });
  expect(found[0]).toMatchObject({ owner: 'platform', onset: at('08:23') });
  expectSilent(rule, { subject, objects: [web], logs, cloudWatch: [course([0, 0, 0, 0, 0, 812, 812])] });
});

test('stays silent when nobody’s connections fail, and when all is well with the way out', () => {
  expectSilent(rule, { subject, objects: [web], cloudWatch: [ports(40)] });
  expectSilent(rule, { subject, objects: [web, pull], cloud: [tables('active')], cloudWatch: [ports(0)] });
});
