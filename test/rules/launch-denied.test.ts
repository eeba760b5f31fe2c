import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/launch-denied.ts';
import { findingsOf } from './harness.ts';
import { expectOnly, refusedBy } from './launch-situations.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['denied'], 'platform');
});

test('says who denies', () => {
  for (const [text, who] of [
    ['with an explicit deny in a service control policy', 'organisation policy'],
    ['because no permissions boundary allows the ec2:RunInstances action', 'permissions boundary'],
    ['RequestDisallowedByPolicy: Resource was disallowed by policy', 'Azure policy'],
  ] as const)
    expect(findingsOf(rule, refusedBy('Unauthorized', `not authorized ${text}`))[0]?.cause.en).toContain(who);
});
