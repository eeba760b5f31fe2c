import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-address-capacity.ts';
import { log, node, pod, series } from './control-plane.harness.ts';
import { event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
const waiting = pod('web-1', 'n1', { phase: 'Pending', ready: 'False' });
const agent = pod('aws-node-x', 'n1', { namespace: 'kube-system' });
const assign = event(
  waiting,
  'FailedCreatePodSandBox',
  'plugin type="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
);
const stats =
  'IP pool stats for network card 0: Total IPs/Prefixes = 56/0, AssignedIPs/CooldownIPs: 56/0, c.maxIPsPerENI = 14';
const full = log('aws-node-x', `${stats}\nSkipping ENI allocation as the max ENI limit is already reached`);
const objects = (pods: string) => [node('n1', 'True', { allocatable: { pods } }), waiting, agent, assign];

test('more pods allowed than addresses, by the CNI’s log or its metrics', () => {
  expect(findingsOf(rule, { subject, objects: objects('64'), logs: [full] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  const metric = (name: string, value: number) => series(name, { instance: 'n1' }, [value, value]);
  const metrics = [
    metric('awscni_total_ip_addresses', 56),
    metric('awscni_assigned_ip_addresses', 56),
    metric('awscni_eni_max', 4),
    metric('awscni_eni_allocated', 4),
  ];
  expect(findingsOf(rule, { subject, objects: objects('110'), series: metrics })[0]?.cause.en).toContain('110');
});

test('stays silent when the pods allowed fit, or the subnet is what is full', () => {
  expectSilent(rule, { subject, objects: objects('56'), logs: [full] });
  const subnet = {
    call: 'ec2.describeSubnets',
    answer: { Subnets: [{ SubnetId: 's', AvailabilityZone: 'us-west-2a', AvailableIpAddressCount: 0 }] },
  };
  expectSilent(rule, { subject, objects: objects('64'), logs: [full], cloud: [subnet] });
  expectSilent(rule, { subject, objects: objects('64'), logs: [log('aws-node-x', stats)] });
});
