import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/instance-stuck-pending.ts';
import { at, lease, log, node } from './control-plane.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const id = 'i-0123456789abcdef0';
const subject = { kind: 'Node', name: 'n1' };
const instance = (state: string, launched: string, attachment = 'attached') => ({
  call: 'ec2.describeInstances',
  answer: {
    Reservations: [
      {
        Instances: [
          {
            InstanceId: id,
            State: { Name: state },
            LaunchTime: launched,
            NetworkInterfaces: [{ NetworkInterfaceId: 'eni-1', Attachment: { Status: attachment } }],
          },
        ],
      },
    ],
  },
});
const young = node('n1', 'True', { id });

test('pending with a running kubelet, or an interface that goes on attaching', () => {
  for (const answer of [instance('pending', at('08:00')), instance('running', at('08:00'), 'attaching')])
    expect(findingsOf(rule, { subject, objects: [young, lease('n1', at('08:30'))], cloud: [answer] })[0]).toMatchObject(
      { owner: 'cloud', strength: 'direct' },
    );
});

test('without the API’s answer, EC2’s refusal names the instance', () => {
  const refused = log(
    'cilium-operator',
    `level=warning msg="unable to attach ENI: api error IncorrectState: Instance '${id}' is not 'running' or 'stopped'."`,
  );
  expect(findingsOf(rule, { subject, objects: [young, lease('n1', at('08:30'))], logs: [refused] })[0]).toMatchObject({
    owner: 'cloud',
    strength: 'derived',
  });
});

test('stays silent on a fresh launch and on a running instance', () => {
  expectSilent(rule, { subject, objects: [young], cloud: [instance('pending', at('08:28'))] });
  expectSilent(rule, { subject, objects: [young], cloud: [instance('running', at('08:00'))] });
});
