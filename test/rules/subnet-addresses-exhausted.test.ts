import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/subnet-addresses-exhausted.ts';
import { log, node, pod } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const waiting = pod('web-1', 'n1', { phase: 'Pending', ready: 'False' });
const sandbox = (text: string) =>
  event(
    waiting,
    'FailedCreatePodSandBox',
    `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "x": plugin type="aws-cni" failed (add): ${text}`,
  );
const subnets = (free: number, zone = 'us-west-2a') => ({
  call: 'ec2.describeSubnets',
  answer: {
    Subnets: [
      { SubnetId: 'subnet-1', AvailabilityZone: zone, CidrBlock: '10.0.0.0/27', AvailableIpAddressCount: free },
    ],
  },
});
const assign = sandbox('add cmd: failed to assign an IP address to container');

test('by the subnet, by the CNI’s log, by the plugin’s own words', () => {
  expect(findingsOf(rule, { subject, objects: [node('n1'), waiting, assign], cloud: [subnets(1)] })[0]).toMatchObject({
    owner: 'platform',
    boundary: 'network',
    strength: 'direct',
  });
  const said = log(
    'aws-node-x',
    'Failed to CreateNetworkInterface InsufficientFreeAddressesInSubnet: not enough free addresses',
  );
  expect(findingsOf(rule, { subject, objects: [node('n1'), waiting, assign], logs: [said] })[0]).toMatchObject({
    strength: 'derived',
  });
  const azure = sandbox('Failed to allocate address: Failed to delegate: SubnetIsFull: Subnet default is full');
  expect(findingsOf(rule, { provider: 'aks', subject, objects: [node('n1'), waiting, azure] })[0]).toMatchObject({
    owner: 'platform',
  });
});

test('a sandbox that died in a running pod; plugins of several clouds and networks', () => {
  const started = { phase: 'Running', ready: 'False' };
  const words = [
    'AllocateIPConfig failed: not enough IPs available for 9c6a7f37, waiting on Azure CNS to allocate more with NC Status: SubnetFull',
    'error create eni: InvalidVSwitchId.IpNotEnough, The specified VSwitch "vsw-1" has not enough IpAddress.',
    'unable to allocate IP via local cilium agent: [POST /ipam][502] postIpamFailure No more IPs available',
    'failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; No more free affine blocks and strict affinity enabled',
    'failed to allocate for range 0: no IP addresses available in range set: 10.4.1.1-10.4.1.254',
  ];
  for (const text of words) {
    const running = pod('web-1', 'n1', started);
    expect(findingsOf(rule, { subject, objects: [node('n1'), running, sandbox(text)] })[0]).toMatchObject({
      owner: 'platform',
      strength: 'direct',
    });
  }
  const made = pod('web-1', 'n1', { phase: 'Running' });
  expectSilent(rule, { subject, objects: [node('n1'), made, sandbox(words[0]!)] });
});

test('stays silent with free addresses in the node’s zone, or when another step fails', () => {
  expectSilent(rule, { subject, objects: [node('n1'), waiting, assign], cloud: [subnets(3600)] });
  expectSilent(rule, { subject, objects: [node('n1'), waiting, assign], cloud: [subnets(0, 'us-west-2c')] });
  expectSilent(rule, {
    subject,
    objects: [node('n1'), waiting, event(waiting, 'FailedMount', 'no such volume')],
    cloud: [subnets(0)],
  });
});
