import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/volume-attach.ts';
import { condition, event, expectSilent, findingsOf, object } from './harness.ts';
import { node, running, subjectOf } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const volumes = [{ persistentVolumeClaim: { claimName: 'data' } }];
const pod = running('db-1', 'n2', {
  spec: { volumes },
  status: { phase: 'Pending', conditions: [condition('Ready', 'False')] },
});
const subject = subjectOf(pod);
const attach = (message: string, at = minutesAgo(20)) =>
  event(pod, 'FailedAttachVolume', message, { source: 'attachdetach-controller', at });
const multi = 'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) db-0';

test('two replicas of one claim: the workload’s design', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pod, node('n1'), node('n2'), running('db-0', 'n1', { spec: { volumes } }), attach(multi)],
  });
  expect(finding).toMatchObject({ owner: 'app', boundary: 'config', strength: 'direct' });
});

test('held by a lost node: weak, so that the node’s loss decides', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pod, node('n1', { ready: 'Unknown' }), running('db-0', 'n1', { spec: { volumes } }), attach(multi)],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'circumstantial' });
});

test('in the first minutes after a move it is expected', () => {
  expect(findingsOf(rule, { subject, objects: [pod, attach(multi, minutesAgo(3))] })[0]).toMatchObject({
    state: 'expected',
    deadline: minutesAgo(-7),
  });
});

test('driver, permission and vendor', () => {
  const mount = event(
    pod,
    'FailedMount',
    'MountVolume.MountDevice failed: driver name efs.csi.aws.com not found in the list of registered CSI drivers',
  );
  expect(findingsOf(rule, { subject, objects: [pod, mount] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
  });
  expect(
    findingsOf(rule, { subject, objects: [pod, attach('AttachVolume.Attach failed: UnauthorizedOperation')] })[0],
  ).toMatchObject({ owner: 'platform' });
  expect(
    findingsOf(rule, {
      subject,
      objects: [pod, attach('AttachVolume.Attach failed: InternalError: An internal error has occurred')],
    })[0],
  ).toMatchObject({ owner: 'cloud' });
});

test('silent for a missing secret and for a pod that runs', () => {
  expectSilent(rule, {
    subject,
    objects: [pod, event(pod, 'FailedMount', 'MountVolume.SetUp failed: secret "x" not found')],
  });
  const up = running('db-2', 'n2');
  expectSilent(rule, {
    subject: subjectOf(up),
    objects: [up, object('Node', 'n2'), event(up, 'FailedAttachVolume', multi)],
  });
});
