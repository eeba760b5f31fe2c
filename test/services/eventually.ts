import { expect } from 'vitest';

/** Asks again until the expectation holds. The time is for a loaded machine; what is awaited takes milliseconds. */
export const eventually = <T>(ask: () => T) => expect.poll(ask, { timeout: 15_000, interval: 20 });
