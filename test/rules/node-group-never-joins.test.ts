import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/node-group-never-joins.ts';
import { event, expectSilent, findingsOf, object } from './harness.ts';
import { subjectOf, waiting } from './nodes.ts';

const pod = waiting('web-1');
const subject = subjectOf(pod);
const map = object('ConfigMap', 'cluster-autoscaler-status', { namespace: 'kube-system' });

test('the autoscaler’s timeout, and the vendor’s group health', () => {
  const timedOut = event(map, 'ScaleUpTimedOut', 'Nodes added to group main failed to register within 15m3s', {
    source: 'cluster-autoscaler',
  });
  expect(findingsOf(rule, { subject, objects: [pod, map, timedOut] })[0]).toMatchObject({
    owner: 'undetermined',
    missing: [{ layer: 'cloud' }],
  });
  const cloud = [
    {
      call: 'eks.describeNodegroup',
      answer: {
        nodegroup: {
          nodegroupName: 'main',
          health: {
            issues: [{ code: 'NodeCreationFailure', message: 'Instances failed to join the kubernetes cluster' }],
          },
        },
      },
    },
  ] as any;
  expect(findingsOf(rule, { subject, objects: [pod], cloud })[0]).toMatchObject({
    owner: 'platform',
    cause: { en: expect.stringContaining('failed to join') },
  });
});

test('silent for a refused launch', () => {
  expectSilent(rule, {
    subject,
    objects: [pod, map, event(map, 'FailedToScaleUpGroup', 'Scale-up failed for group main: QUOTA_EXCEEDED')],
  });
});
