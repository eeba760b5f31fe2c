import { expect, test } from 'vitest';
import { growth, rate, risesAt, sum, valueAt } from '../../src/facts/series.ts';

const series = (...values: number[]) => ({
  name: 'm',
  labels: {},
  points: values.map((value, i): [number, number] => [i * 60, value]),
});

test('a counter’s rate survives its reset', () => {
  expect(rate(series(0, 60, 120, 30, 90))).toBeCloseTo((120 + 30 + 60) / 240);
});

test('growth compares the last quarter with the first', () => {
  expect(growth(series(1, 1, 2, 3, 4, 4, 4, 4))).toBe(4);
  expect(growth(series(1, 2))).toBeNaN();
});

test('values hold until the next point, and sums follow all times', () => {
  expect(valueAt(series(1, 2, 3), 90)).toBe(2);
  expect(valueAt(series(1), -1)).toBeNaN();
  expect(sum([series(1, 2), { name: 'm', labels: {}, points: [[60, 10]] }]).points).toEqual([
    [0, 1],
    [60, 12],
  ]);
});

test('the rise is found where it begins', () => {
  expect(risesAt(series(1, 1, 1, 1, 5, 6, 7, 8), 2)).toBe(240);
  expect(risesAt(series(1, 1, 1, 1), 2)).toBeUndefined();
});
