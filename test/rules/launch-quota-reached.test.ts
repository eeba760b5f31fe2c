import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-quota-reached.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { expectOnly, hostedQuota, nodeIn, refusedBy } from './launch-situations.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['quota'], 'platform');
});

test('silent where the subscription of the text is not the cluster’s own', () => {
  expectSilent(rule, refusedBy('CreateInstanceFailed', hostedQuota, [nodeIn('c5a78a30-a39c-4808-aae7-5b01cce8cc02')]));
  expect(
    findingsOf(
      rule,
      refusedBy('CreateInstanceFailed', hostedQuota, [nodeIn('6f1d2c3b-7a58-4e90-b2f4-0c9d8e7f6a51')]),
    )[0],
  ).toMatchObject({
    owner: 'platform',
    boundary: 'quota',
  });
});
