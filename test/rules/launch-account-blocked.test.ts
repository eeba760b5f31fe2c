import { test } from 'vitest';
import rule from '../../src/rules/cloud/launch-account-blocked.ts';
import { expectOnly } from './launch-situations.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['account'], 'cloud');
});
