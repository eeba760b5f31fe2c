import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-throttled.ts';
import { findingsOf, object } from './harness.ts';
import { expectOnly, refusedBy } from './launch-situations.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['throttled'], 'undetermined');
});

test('throttling: the loudest caller of the trail owns it, an application’s role included', () => {
  const call = (role: string, index: number) => ({
    EventName: 'DescribeInstances',
    EventTime: '2026-11-20T08:20:00Z',
    CloudTrailEvent: JSON.stringify({
      userIdentity: { arn: `arn:aws:sts::111122223333:assumed-role/${role}/s${index}` },
    }),
  });
  const trail = (role: string) =>
    [
      {
        call: 'cloudtrail.lookupEvents',
        answer: { Events: [0, 1, 2, 3, 4, 5].map((index) => call(index < 5 ? role : 'other', index)) },
      },
    ] as any;
  const situation = refusedBy('RequestLimitExceeded', 'Request limit exceeded.');
  expect(findingsOf(rule, { ...situation, cloud: trail('inventory-scanner') })[0]).toMatchObject({
    owner: 'platform',
    strength: 'derived',
  });
  const account = object('ServiceAccount', 'crawler', {
    namespace: 'shop',
    annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/crawler' },
  });
  expect(
    findingsOf(rule, { ...situation, objects: [...(situation.objects ?? []), account], cloud: trail('crawler') })[0],
  ).toMatchObject({ owner: 'app' });
});
