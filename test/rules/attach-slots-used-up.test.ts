import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/attach-slots-used-up.ts';
import { expectSilent, findingsOf, object } from './harness.ts';
import { node, refused, subjectOf, waiting } from './nodes.ts';

const judged = (message: string, more: ReturnType<typeof object>[] = []) => {
  const pod = waiting('build-1', { message });
  return findingsOf(rule, { subject: subjectOf(pod), objects: [pod, node('n1'), ...more] })[0];
};

test('no attachment slot is left, in the scheduler’s and in Karpenter’s words', () => {
  const csi = object('CSINode', 'n1', { spec: { drivers: [{ name: 'ebs.csi.aws.com', allocatable: { count: 1 } }] } });
  const held = object('VolumeAttachment', 'va', { spec: { nodeName: 'n1', attacher: 'ebs.csi.aws.com' } });
  const finding = judged('0/1 nodes are available: 1 node(s) exceed max volume count.', [csi, held]);
  expect(finding).toMatchObject({ owner: 'platform', boundary: 'storage', strength: 'direct' });
  expect(finding?.cause.en).toContain('1 of 1 node holds 1 volume');
  expect(judged('0/4 nodes are available: 1 Insufficient cpu, 3 node(s) exceed max volume count.')?.strength).toBe(
    'derived',
  );
  const pod = waiting('build-1', { message: '' });
  const words = refused(pod, 'would exceed volume limit for node (NodePool=default)');
  expect(findingsOf(rule, { subject: subjectOf(pod), objects: [pod, words] })[0]?.owner).toBe('platform');
});

test('silent where something else is short on more nodes', () => {
  const pod = waiting('build-1', {
    message: '0/4 nodes are available: 1 node(s) exceed max volume count, 3 Insufficient cpu.',
  });
  expectSilent(rule, { subject: subjectOf(pod), objects: [pod] });
});
