import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/launch-capacity-shortage.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { claim, launchFailed, node, pool, subjectOf, waiting } from './nodes.ts';
import { minutesAgo } from './workloads.ts';

const pod = waiting('web-1');
const shortage =
  'InsufficientInstanceCapacity: We currently do not have sufficient m6a.xlarge capacity in the Availability Zone you requested (us-west-2a).';
const subject = subjectOf(pod);

test('Karpenter: the vendor’s own sentence, and pods wait for that pool', () => {
  const [finding] = findingsOf(rule, {
    subject,
    objects: [pool('default', { types: ['m6a.xlarge'] }), pod, launchFailed('default-abcde', shortage)],
  });
  expect(finding).toMatchObject({ owner: 'cloud', boundary: 'capacity', strength: 'direct' });
  expect(finding?.evidence[0]?.text).toContain('do not have sufficient m6a.xlarge');
  expect(finding?.contributing[0]?.owner).toBe('platform');
});

test('Cluster Autoscaler on AKS and GKE: event and status', () => {
  const map = (info: string) =>
    object('ConfigMap', 'cluster-autoscaler-status', {
      namespace: 'kube-system',
      data: {
        status: `time: ${minutesAgo(1)}\nautoscalerStatus: Running\nnodeGroups:\n- name: gpu\n  scaleUp:\n    status: Backoff\n    lastTransitionTime: "${minutesAgo(4)}"\n    backoffInfo:\n${info}`,
      },
    });
  const failed = event(
    map(''),
    'FailedToScaleUpGroup',
    'Scale-up failed for group aks-gpu: Code="ZonalAllocationFailed" Message="Allocation failed. We do not have sufficient capacity"',
    { source: 'cluster-autoscaler' },
  );
  expect(findingsOf(rule, { provider: 'aks', subject, objects: [pod, failed] })[0]).toMatchObject({ owner: 'cloud' });
  const status = map(
    '      errorCode: ZONE_RESOURCE_POOL_EXHAUSTED\n      errorMessage: The zone does not have enough resources\n',
  );
  expect(findingsOf(rule, { provider: 'gke', subject, objects: [pod, status] })[0]?.cause.en).toContain(
    'node group gpu',
  );
});

test('a self-managed control plane that lacks a machine is harmed as a whole', () => {
  const activity = {
    AutoScalingGroupName: 'masters-a',
    StatusCode: 'Failed',
    StartTime: minutesAgo(6),
    Description:
      'Launching a new EC2 instance. Status Reason: We currently do not have sufficient c4.4xlarge capacity in the Availability Zone you requested.',
  };
  const [finding] = findingsOf(rule, {
    provider: 'self',
    subject: { kind: 'Cluster' },
    cloud: [{ call: 'autoscaling.describeScalingActivities', answer: { Activities: [activity] } }] as any,
  });
  expect(finding).toMatchObject({ owner: 'cloud', affects: 'cluster' });
});

test('silent where another machine was made after the refusal, or the sentence names another limit', () => {
  const later = claim('default-later', 'default', { age: 2, node: 'n1' });
  expectSilent(rule, {
    subject,
    objects: [pool('default'), pod, later, node('n1', { pool: 'default' }), launchFailed('default-abcde', shortage)],
  });
  for (const text of [
    "InsufficientInstanceCapacity: You've reached the limit of instances in this spread placement group.",
    'VcpuLimitExceeded: more vCPU capacity than your current vCPU limit',
    'InsufficientFreeAddressesInSubnet: not enough free addresses',
  ])
    expectSilent(rule, { subject, objects: [pool('default'), pod, launchFailed('default-abcde', text)] });
});

test('silent for a pool that none of the waiting pods can use', () => {
  const gpu = pool('gpu', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  expectSilent(rule, { subject, objects: [gpu, pod, launchFailed('gpu-abcde', shortage)] });
});
