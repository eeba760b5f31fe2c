import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/zone-outage.ts';
import { at, node, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Cluster' };
const z = (zone: string, id?: string) => ({ zone, id });
const good = [node('b1', 'True', z('us-west-2b')), node('c1', 'True', z('us-west-2c'))];
const dead = [node('a1', 'Unknown', z('us-west-2a', 'i-0a')), node('a2', 'Unknown', z('us-west-2a', 'i-0b'))];
const ready = node('a3', 'True', z('us-west-2a'));
const stuck = pod('web-1', 'a3', { ready: 'False', phase: 'Pending' });
const pull = event(stuck, 'Failed', 'Failed to pull image "r/x:1": dial tcp 52.1.1.1:443: i/o timeout', {
  at: at('08:20'),
});
const health = {
  call: 'health.describeEvents',
  answer: {
    events: [
      {
        arn: 'arn:1',
        service: 'EC2',
        eventTypeCode: 'AWS_EC2_OPERATIONAL_ISSUE',
        eventTypeCategory: 'issue',
        statusCode: 'open',
        availabilityZone: 'us-west-2a',
        startTime: at('08:00'),
      },
    ],
  },
};
const impaired = {
  call: 'ec2.describeInstanceStatus',
  answer: {
    InstanceStatuses: ['i-0a', 'i-0b'].map((InstanceId) => ({
      InstanceId,
      SystemStatus: { Status: 'impaired' },
      InstanceStatus: { Status: 'impaired' },
    })),
  },
};

test('unrelated troubles in one zone, more surely with the vendor’s event or failed checks', () => {
  expect(findingsOf(rule, { subject, objects: [...good, ...dead, ready, stuck, pull] })[0]).toMatchObject({
    owner: 'cloud',
    boundary: 'zone',
    strength: 'derived',
  });
  expect(
    findingsOf(rule, { subject, objects: [...good, ...dead, ready, stuck, pull], cloud: [health] })[0],
  ).toMatchObject({ strength: 'direct' });
  expect(findingsOf(rule, { subject, objects: [...good, ...dead], cloud: [impaired] })[0]).toMatchObject({
    strength: 'direct',
  });
});

test('works without AWS: every node of one zone falls silent together', () => {
  expect(findingsOf(rule, { provider: 'gke', subject, objects: [...good, ...dead] })[0]).toMatchObject({
    owner: 'cloud',
    strength: 'circumstantial',
  });
});

test('stays silent on one silent node, on several zones, and after a change of the network', () => {
  expectSilent(rule, { subject, objects: [...good, dead[0]!, ready] });
  expectSilent(rule, {
    subject,
    objects: [node('b1', 'Unknown', z('us-west-2b')), node('c1', 'True', z('us-west-2c')), ...dead],
  });
  const change = {
    call: 'cloudtrail.lookupEvents',
    answer: { Events: [{ EventName: 'ReplaceNetworkAclEntry', EventTime: at('08:08'), Username: 'ops' }] },
  };
  expectSilent(rule, { subject, objects: [...good, ...dead], cloud: [change] });
});
