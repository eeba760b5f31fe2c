import { expect, it } from 'vitest';
import { inBatches } from '../../../src/evidence/prometheus/batches.ts';

it('whoever asked for a metric is told that asking went wrong', async () => {
  const series = inBatches(async () => {
    throw new Error('broke off');
  });
  const range = { start: 0, end: 60, stepSeconds: 60 };
  const asked = await Promise.allSettled([series({ name: 'up', ...range }), series({ name: 'down', ...range })]);
  expect(asked).toEqual(Array(2).fill({ status: 'rejected', reason: new Error('broke off') }));
});
