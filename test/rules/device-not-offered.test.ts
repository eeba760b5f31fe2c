import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/device-not-offered.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { node, subjectOf, waiting } from './nodes.ts';

const pod = waiting('train-1', {
  message: '0/2 nodes are available: 2 Insufficient nvidia.com/gpu.',
  requests: { 'nvidia.com/gpu': '1' },
});
const subject = subjectOf(pod);

test('GPU nodes that offer none, and the plugin that is down: the platform’s', () => {
  const gpu = node('g1', { labels: { 'node.kubernetes.io/instance-type': 'g5.xlarge' } });
  const plugin = object('Pod', 'nvidia-device-plugin-x', {
    namespace: 'kube-system',
    status: { phase: 'Running', conditions: [condition('Ready', 'False')] },
  });
  expect(findingsOf(rule, { subject, objects: [pod, gpu, plugin] })[0]).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    root: { name: 'nvidia-device-plugin-x' },
  });
  expect(findingsOf(rule, { subject, objects: [pod, gpu] })[0]).toMatchObject({
    owner: 'platform',
    root: { kind: 'Node', name: 'g1' },
  });
});

test('no such node at all: the workload asks for what is not there', () => {
  expect(findingsOf(rule, { subject, objects: [pod, node('n1')] })[0]).toMatchObject({
    owner: 'app',
    strength: 'derived',
  });
});

test('silent where a node offers it and it is in use', () => {
  expectSilent(rule, { subject, objects: [pod, node('g1', { allocatable: { 'nvidia.com/gpu': '4' } })] });
});
