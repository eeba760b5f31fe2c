import { expect, test } from 'vitest';
import { addMinutes } from '../../src/facts/time.ts';

test.each([
  ['2026-11-20T08:30:00Z', 90, '2026-11-20T10:00:00Z'],
  ['2026-11-20T08:30:00Z', 1e300, '9999-12-31T23:59:59Z'],
  ['2026-11-20T08:30:00Z', Number.POSITIVE_INFINITY, '9999-12-31T23:59:59Z'],
  ['no time at all', 5, '1970-01-01T00:00:00Z'],
])('%s and %d minutes are %s', (iso, minutes, expected) => {
  expect(addMinutes(iso, minutes)).toBe(expected);
});
