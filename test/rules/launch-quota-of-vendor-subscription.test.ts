import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/launch-quota-of-vendor-subscription.ts';
import { expectSilent, findingsOf } from './harness.ts';
import { expectOnly, hostedQuota, nodeIn, refusedBy } from './launch-situations.ts';

test('a quota is the vendor’s where its subscription is not the cluster’s', () => {
  const foreign = refusedBy('CreateInstanceFailed', hostedQuota, [nodeIn('c5a78a30-a39c-4808-aae7-5b01cce8cc02')]);
  expect(findingsOf(rule, foreign)[0]).toMatchObject({ owner: 'cloud', boundary: 'quota', strength: 'direct' });
  expectSilent(rule, refusedBy('CreateInstanceFailed', hostedQuota, [nodeIn('6f1d2c3b-7a58-4e90-b2f4-0c9d8e7f6a51')]));
});

test('silent for every refusal that names no subscription, and where no node tells the cluster’s own', () => {
  expectOnly(rule, [], 'cloud');
  expectSilent(rule, refusedBy('CreateInstanceFailed', hostedQuota));
});
