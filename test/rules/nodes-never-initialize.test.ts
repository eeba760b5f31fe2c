import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/nodes-never-initialize.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { claim, node, pool, running, subjectOf, waiting } from './nodes.ts';
import { logOf, minutesAgo } from './workloads.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const joined = (reason: string, message: string, age = 20) =>
  claim('default-a', 'default', {
    node: 'n1',
    conditions: [
      condition('Launched', 'True'),
      condition('Registered', 'True', '', '', minutesAgo(age)),
      condition('Initialized', 'Unknown', reason, message),
    ],
  });
const taint = 'StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists';

test('a startup taint that stays, with what its agent did', () => {
  const agent = running('ebs-csi-node-x', 'n1', {
    namespace: 'kube-system',
    ownerReferences: [{ kind: 'DaemonSet', name: 'ebs-csi-node' }],
  });
  const logs = [logOf(agent, 'I1 Removed taint(s) with key ebs.csi.aws.com/agent-not-ready from node n1')];
  const [finding] = findingsOf(rule, {
    subject,
    logs,
    objects: [pod, pool('default'), joined('StartupTaintsExist', taint), node('n1', { pool: 'default' }), agent],
  });
  expect(finding).toMatchObject({ owner: 'platform', strength: 'direct' });
  expect(finding?.cause.en).toContain('put back');
});

test('a device that never registers', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [
      pod,
      pool('default'),
      joined('ResourceNotRegistered', 'Resource "nvidia.com/gpu" was requested but not registered'),
    ],
  });
  expect(finding?.nextSteps[0]?.en).toContain('device plugin');
});

test('silent for a node that joined a minute ago, and for one that is not Ready', () => {
  expectSilent(rule, { subject, objects: [pod, pool('default'), joined('StartupTaintsExist', taint, 1)] });
  expectSilent(rule, { subject, objects: [pod, pool('default'), joined('NodeNotReady', 'Node status is NotReady')] });
});
