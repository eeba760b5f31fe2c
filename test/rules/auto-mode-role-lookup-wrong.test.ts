import { expect, test } from 'vitest';
import rule from '../../src/rules/cloud/auto-mode-role-lookup-wrong.ts';
import { entryWithPath, roleWithPath, unauthorized } from './auto-mode.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

const right = { 'eks.listAccessEntries': { accessEntries: [entryWithPath] }, 'iam.getRole': roleWithPath };
const lookup = {
  EventName: 'DescribeAccessEntry',
  EventTime: '2026-11-20T08:00:00Z',
  CloudTrailEvent: JSON.stringify({
    userIdentity: { arn: 'arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKS/1' },
    errorCode: 'ResourceNotFoundException',
    requestParameters: { principalArn: 'arn:aws:iam::111122223333:role/node' },
  }),
};

test('the entry is right: derived, and direct once the trail shows the service asking for another ARN', () => {
  expect(findingsOf(rule, unauthorized(right))[0]).toMatchObject({ owner: 'cloud', strength: 'derived' });
  const [finding] = findingsOf(rule, unauthorized({ ...right, 'cloudtrail.lookupEvents': { Events: [lookup] } }));
  expect(finding).toMatchObject({ owner: 'cloud', strength: 'direct', boundary: 'control-plane' });
});

test('silent where the entry is missing or was not read', () => {
  expectSilent(rule, unauthorized({ 'eks.listAccessEntries': { accessEntries: [] } }));
  expectSilent(rule, unauthorized({}));
});
