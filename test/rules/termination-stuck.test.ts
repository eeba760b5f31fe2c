import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/termination-stuck.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { claim, node } from './nodes.ts';

const subject = { kind: 'NodePool', name: 'default' };
const ended = (conditions: any[], minutes = 60) =>
  claim('a', 'default', {
    node: 'n1',
    deletedMinutesAgo: minutes,
    conditions: [condition('Drained', 'True'), ...conditions],
  });

test('volumes that stay attached: whose they are only an error of the detachment tells', () => {
  const stuck = ended([condition('VolumesDetached', 'Unknown', 'AwaitingVolumeDetachment')]);
  expect(findingsOf(rule, { subject, objects: [stuck] })[0]).toMatchObject({
    owner: 'undetermined',
    boundary: 'storage',
    missing: [{ layer: 'platform' }],
  });
  const refused = object('VolumeAttachment', 'csi-1', {
    spec: { nodeName: 'n1' },
    status: { attached: true, detachError: { message: 'UnauthorizedOperation: ec2:DetachVolume' } },
  });
  expect(findingsOf(rule, { subject, objects: [stuck, refused] })[0]).toMatchObject({ owner: 'platform' });
});

test('an instance that the vendor does not end', () => {
  const objects = [
    ended([condition('VolumesDetached', 'True'), condition('InstanceTerminating', 'True')]),
    node('n1', { providerID: 'aws:///us-west-2a/i-0123456789abcdef0' }),
  ];
  const cloud = [
    {
      call: 'ec2.describeInstanceStatus',
      answer: { InstanceStatuses: [{ InstanceId: 'i-0123456789abcdef0', InstanceState: { Name: 'shutting-down' } }] },
    },
  ] as any;
  expect(findingsOf(rule, { subject, objects, cloud })[0]).toMatchObject({ owner: 'cloud' });
});

test('silent while it drains, and in its first minutes', () => {
  expectSilent(rule, {
    subject,
    objects: [
      claim('a', 'default', { deletedMinutesAgo: 60, conditions: [condition('Drained', 'Unknown', 'Draining')] }),
    ],
  });
  expectSilent(rule, { subject, objects: [ended([condition('VolumesDetached', 'Unknown')], 3)] });
});
