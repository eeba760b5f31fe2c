import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/device-claim-not-served.ts';
import { node, pod } from './control-plane.harness.ts';
import { condition, event, expectSilent, findingsOf } from './harness.ts';

const subject = { kind: 'Pod', name: 'train-0', namespace: 'ml' } as const;
const waiting = (message: string) =>
  pod('train-0', undefined, {
    namespace: 'ml',
    ready: 'False',
    spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }] },
    status: { conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)] },
  });

test('a tainted device evicts, a driver that cannot prepare the claim holds the pod: the platform', () => {
  const evicted = pod('train-0', 'n1', {
    namespace: 'ml',
    phase: 'Failed',
    ready: 'False',
    status: {
      conditions: [
        condition(
          'DisruptionTarget',
          'True',
          'DeletionByDeviceTaintManager',
          'Device Taint manager: deleting due to NoExecute taint',
        ),
      ],
    },
  });
  expect(findingsOf(rule, { subject, objects: [node('n1'), evicted] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    mechanism: 'eviction',
  });
  const held = pod('train-0', 'n1', { namespace: 'ml', phase: 'Pending', ready: 'False' });
  const driver = pod('nvidia-dra-driver-x1', 'n1', {
    namespace: 'nvidia',
    ready: 'False',
    ownerReferences: [{ kind: 'DaemonSet', name: 'nvidia-dra-driver', uid: 'uid-ds', controller: true }],
  });
  const words =
    'Failed to prepare dynamic resources: NodePrepareResources failed for claim ml/gpu: driver not registered';
  const [finding] = findingsOf(rule, {
    subject,
    objects: [node('n1'), held, driver, event(held, 'FailedPrepareDynamicResources', words)],
  });
  expect(finding).toMatchObject({ owner: 'platform', root: { name: 'nvidia-dra-driver-x1' } });
});

test('a class that nobody made is the platform’s, a claim of the own namespace the team’s', () => {
  const of = (message: string) => findingsOf(rule, { subject, objects: [waiting(message)] })[0];
  expect(of('0/4 nodes are available: request gpu: device class gpu.example.com does not exist.')).toMatchObject({
    owner: 'platform',
    boundary: 'config',
  });
  expect(of('0/4 nodes are available: resourceclaim "train-gpu" not found.')).toMatchObject({ owner: 'app' });
  expect(of('0/4 nodes are available: 4 cannot allocate all claims. still not schedulable')).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
});

test('Karpenter makes no nodes for claims', () => {
  const held = waiting('0/4 nodes are available: 4 Insufficient cpu.');
  const said = event(
    held,
    'FailedScheduling',
    'Failed to schedule pod, pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter',
    { source: 'karpenter' },
  );
  expect(findingsOf(rule, { subject, objects: [held, said] })[0]).toMatchObject({ owner: 'platform' });
});

test('stays silent on extended resources, node taints, and the claim part of an ordinary refusal', () => {
  expectSilent(rule, { subject, objects: [waiting('0/4 nodes are available: 4 Insufficient nvidia.com/gpu.')] });
  expectSilent(rule, {
    subject,
    objects: [
      waiting(
        '0/4 nodes are available: 4 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available',
      ),
    ],
  });
  const evicted = pod('train-0', 'n1', {
    namespace: 'ml',
    ready: 'False',
    status: {
      conditions: [condition('DisruptionTarget', 'True', 'DeletionByTaintManager', 'Taint manager: deleting')],
    },
  });
  expectSilent(rule, { subject, objects: [node('n1'), evicted] });
});
