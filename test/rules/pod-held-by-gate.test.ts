import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/pod-held-by-gate.ts';
import { condition, expectSilent, findingsOf } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

test('names the gate and leaves the owner open', () => {
  const pod = waiting('job-1', { spec: { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] } });
  pod.status.conditions = [condition('PodScheduled', 'False', 'SchedulingGated')];
  const [finding] = findingsOf(rule, { subject: subjectOf(pod), objects: [pod] });
  expect(finding).toMatchObject({ owner: 'undetermined' });
  expect(finding?.cause.en).toContain('kueue.x-k8s.io/admission');
});

test('silent for a pod that the scheduler refused', () => {
  const pod = waiting('web-1');
  expectSilent(rule, { subject: subjectOf(pod), objects: [pod] });
});
