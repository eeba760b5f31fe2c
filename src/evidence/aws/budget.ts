/** Time and waiting, given so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects with the signal's reason where that comes first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Budget {
  /** Waits for the right to make one call. False where that would take longer than `maxWaitMs`. */
  take(maxWaitMs: number, signal: AbortSignal): Promise<boolean>;
}

/** A token bucket: `burst` calls at once, then `perSecond`. Tokens are given in the order they are asked for. */
export const tokenBucket = ({ perSecond, burst }: { perSecond: number; burst: number }, clock: Clock): Budget => {
  let tokens = burst;
  let countedAt = clock.now();
  return {
    async take(maxWaitMs, signal) {
      const now = clock.now();
      tokens = Math.min(burst, tokens + ((now - countedAt) / 1000) * perSecond);
      countedAt = now;
      const waitMs = Math.max(0, ((1 - tokens) / perSecond) * 1000);
      if (waitMs > maxWaitMs) return false;
      // Taken now, though due later: so that the next in line waits behind this one.
      tokens -= 1;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      return true;
    },
  };
};
