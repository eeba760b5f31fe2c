import { describe, expect, it } from 'vitest';
import { renewed } from '../../../src/evidence/aws/renewed.ts';

const setUp = () => {
  const state = { now: 0, fetches: 0, fail: false };
  const get = renewed(
    async () => {
      state.fetches += 1;
      if (state.fail) throw new Error('refused');
      return { id: state.fetches, expiresAt: state.now + 1000 };
    },
    { earlyMs: 300, failureMs: 50, now: () => state.now },
  );
  return { state, get };
};

describe('a value that is renewed', () => {
  it('is fetched once for all who ask at once', async () => {
    const { state, get } = setUp();
    const values = await Promise.all([get(), get(), get()]);
    expect(values.map(({ id }) => id)).toEqual([1, 1, 1]);
    expect(state.fetches).toBe(1);
  });

  it('is renewed before its end while the old one serves', async () => {
    const { state, get } = setUp();
    await get();
    state.now = 750;
    expect((await get()).id).toBe(1);
    expect(state.fetches).toBe(2);
    expect((await get()).id).toBe(2);
  });

  it('serves to its end though renewing fails, and then fails', async () => {
    const { state, get } = setUp();
    await get();
    state.fail = true;
    state.now = 750;
    expect((await get()).id).toBe(1);
    state.now = 1001;
    await expect(get()).rejects.toThrow('refused');
  });

  it('does not ask again for a while after a refusal', async () => {
    const { state, get } = setUp();
    state.fail = true;
    await expect(get()).rejects.toThrow('refused');
    await expect(get()).rejects.toThrow('refused');
    expect(state.fetches).toBe(1);
    state.now = 51;
    state.fail = false;
    expect((await get()).id).toBe(2);
  });
});
