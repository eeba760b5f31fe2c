import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/autoscaler-backs-off.ts';
import { event, expectSilent, findingsOf } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const backoff = event(pod, 'NotTriggerScaleUp', "pod didn't trigger scale-up: 1 in backoff after failed scale-up", {
  source: 'cluster-autoscaler',
});

test('undetermined, with the read that would tell', () => {
  const [finding] = findingsOf(rule, { subject, objects: [pod, backoff] });
  expect(finding).toMatchObject({ owner: 'undetermined' });
  expect(finding?.missing).toHaveLength(1);
});

test('silent once the error itself is known', () => {
  expectSilent(rule, {
    subject,
    objects: [
      pod,
      backoff,
      event(
        pod,
        'FailedScaleUp',
        'Node scale up in zones us-central1-a associated with this pod failed: GCE quota exceeded.',
        { source: 'cluster-autoscaler' },
      ),
    ],
  });
});
