import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/auto-mode-node-role-unauthorized.ts';
import { entryWithPath, roleWithPath, unauthorized } from './auto-mode.harness.ts';
import { expectSilent, findingsOf } from './harness.ts';

test('no entry, a wrong type, a wrong policy: the platform’s', () => {
  const entries = { 'eks.listAccessEntries': { accessEntries: [entryWithPath] }, 'iam.getRole': roleWithPath };
  for (const cloud of [
    { 'eks.listAccessEntries': { accessEntries: ['arn:aws:iam::111122223333:role/admin'] } },
    { ...entries, 'eks.describeAccessEntry': { accessEntry: { principalArn: entryWithPath, type: 'STANDARD' } } },
    { ...entries, 'eks.listAssociatedAccessPolicies': { principalArn: entryWithPath, associatedAccessPolicies: [] } },
  ])
    expect(findingsOf(rule, unauthorized(cloud))[0]).toMatchObject({ owner: 'platform', strength: 'direct' });
});

test('entries that could not be read leave it derived, and name the permission', () => {
  const [finding] = findingsOf(rule, unauthorized({}));
  expect(finding).toMatchObject({ owner: 'platform', strength: 'derived' });
  expect(finding?.missing[0]?.fix).toContain('eks:ListAccessEntries');
});

test('silent where the entry exists and nothing is wrong with it', () => {
  expectSilent(
    rule,
    unauthorized({ 'eks.listAccessEntries': { accessEntries: [entryWithPath] }, 'iam.getRole': roleWithPath }),
  );
});
