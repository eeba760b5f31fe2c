import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pod-unscheduled.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { node, running, subjectOf, waiting } from './nodes.ts';

test('cites the scheduler and names the read that would tell', () => {
  const pod = waiting('web-1');
  const [finding] = findingsOf(rule, { subject: subjectOf(pod), objects: [pod] });
  expect(finding).toMatchObject({ owner: 'undetermined', strength: 'circumstantial' });
  expect(finding?.evidence[0]?.text).toContain('Insufficient cpu');
  expect(finding?.missing[0]?.fix).toContain('nodepools');
});

test('silent for pods that have a node', () => {
  const pod = running('web-1', 'n1');
  expectSilent(rule, { subject: subjectOf(pod), objects: [pod, node('n1')] });
});
