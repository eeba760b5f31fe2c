import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-spot-role-missing.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, pod, subject } from './launch-situations.ts';
import { launchFailed, pool } from './nodes.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['spotRole'], 'platform');
});

test('also where Karpenter files it under insufficient capacity', () => {
  const failed = launchFailed(
    'default-abcde',
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted: no permission to create the service-linked role',
  );
  expect(findingsOf(rule, { subject, objects: [pool('default'), pod, failed] })[0]).toMatchObject({
    owner: 'platform',
  });
});
