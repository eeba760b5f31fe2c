import { test } from 'vitest';
import rule from '../../src/rules/platform/launch-unexplained.ts';
import { expectOnly } from './launch-situations.ts';

test('speaks for its kind of refusal alone', () => {
  expectOnly(rule, ['unknown'], 'undetermined');
});
