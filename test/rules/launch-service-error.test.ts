import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/launch-service-error.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { expectOnly } from './launch-situations.ts';
import { launchFailed, pool, subjectOf } from './nodes.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['service'], 'cloud');
});

test('container instances: an overloaded service says so itself', () => {
  const heavy = object('Pod', 'job-1', {
    namespace: 'shop',
    spec: { nodeName: 'virtual-kubelet-h', containers: [] },
    status: {
      phase: 'Pending',
      conditions: [
        condition('ContainerInstanceCreated', 'False', 'UnknownError', 'The ECI service is under heavy load'),
      ],
    },
  });
  const [finding] = findingsOf(rule, { provider: 'ack', subject: subjectOf(heavy), objects: [heavy] });
  expect(finding).toMatchObject({ owner: 'cloud', strength: 'direct' });
});

test('silent once nobody waits and no claim is left', () => {
  expectSilent(rule, {
    subject: { kind: 'Cluster' },
    objects: [pool('default'), launchFailed('default-abcde', 'InternalError: x')],
  });
});
