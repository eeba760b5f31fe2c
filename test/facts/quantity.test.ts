import { expect, test } from 'vitest';
import { quantity } from '../../src/facts/quantity.ts';

test.each([
  ['100m', 0.1],
  ['2', 2],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['500M', 5e8],
  ['1e3', 1000],
  ['250n', 2.5e-7],
])('%s', (text, value) => {
  expect(quantity(text)).toBeCloseTo(value, 10);
});

test.each(['', 'abc', '1.2.3', '10 Mi', undefined])('%s is no quantity', (text) => {
  expect(quantity(text)).toBeNaN();
});
