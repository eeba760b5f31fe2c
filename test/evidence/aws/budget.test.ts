import { describe, expect, it } from 'vitest';
import { tokenBucket } from '../../../src/evidence/aws/budget.ts';

/** A clock that sleeping moves on. */
const manualClock = () => {
  let now = 0;
  const slept: number[] = [];
  return {
    slept,
    pass: (ms: number) => {
      now += ms;
    },
    now: () => now,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
};
const signal = new AbortController().signal;

describe('a budget of calls', () => {
  it('lets a burst pass at once and spaces what follows', async () => {
    const clock = manualClock();
    const budget = tokenBucket({ perSecond: 2, burst: 3 }, clock);
    for (let call = 0; call < 6; call++) expect(await budget.take(10_000, signal)).toBe(true);
    expect(clock.slept).toEqual([500, 1000, 1500]);
  });

  it('fills up again, never beyond the burst', async () => {
    const clock = manualClock();
    const budget = tokenBucket({ perSecond: 1, burst: 2 }, clock);
    await budget.take(0, signal);
    await budget.take(0, signal);
    clock.pass(60_000);
    expect([await budget.take(0, signal), await budget.take(0, signal), await budget.take(0, signal)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('refuses rather than waits too long, and a refusal costs nothing', async () => {
    const clock = manualClock();
    const budget = tokenBucket({ perSecond: 1, burst: 1 }, clock);
    await budget.take(0, signal);
    expect(await budget.take(900, signal)).toBe(false);
    expect(await budget.take(1000, signal)).toBe(true);
    expect(clock.slept).toEqual([1000]);
  });
});
