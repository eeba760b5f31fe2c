import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-filesystem-readonly.ts';
import { node, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'job-1', namespace: 'shop' };
const waiting = pod('job-1', 'n1', { phase: 'Pending', ready: 'False' });
const mount = event(
  waiting,
  'FailedMount',
  'MountVolume.SetUp failed for volume "kube-api-access-x" : mkdir /var/lib/kubelet/pods/1/volumes: read-only file system',
);

test('without kernel log or disk status the owner is open, and the reads are named', () => {
  const [finding] = findingsOf(rule, { provider: 'gke', subject, objects: [node('n1'), waiting, mount] });
  expect(finding).toMatchObject({ owner: 'undetermined', boundary: 'node' });
  expect(finding?.missing).toHaveLength(2);
});

test('a disk that does not answer is the vendor’s; a detector’s condition alone the platform’s on own machines only', () => {
  const ebs = {
    call: 'ec2.describeInstanceStatus',
    answer: { InstanceStatuses: [{ InstanceId: 'i-0a', AttachedEbsStatus: { Status: 'impaired' } }] },
  };
  expect(
    findingsOf(rule, { subject, objects: [node('n1', 'True', { id: 'i-0a' }), waiting, mount], cloud: [ebs] })[0],
  ).toMatchObject({ owner: 'cloud', strength: 'direct' });
  const kernel = event(node('n1'), 'IOError', 'Buffer I/O error on dev nvme0n1p1, logical block 1');
  expect(findingsOf(rule, { subject, objects: [node('n1'), waiting, mount, kernel] })[0]).toMatchObject({
    owner: 'cloud',
  });
  const objects = [
    node('n1', 'True', { conditions: [condition('ReadonlyFilesystem', 'True', 'FilesystemIsReadOnly')] }),
  ];
  expect(findingsOf(rule, { provider: 'self', subject, objects })[0]).toMatchObject({ owner: 'platform' });
  expect(findingsOf(rule, { provider: 'aks', subject, objects })[0]).toMatchObject({ owner: 'undetermined' });
});

test('stays silent when a container may not write to its own root', () => {
  expectSilent(rule, {
    subject,
    objects: [node('n1'), waiting, event(waiting, 'Failed', 'Error: open /app/cache/x: read-only file system')],
  });
});
