/** A value that holds until a time. */
export interface Expiring {
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/**
 * Keeps a value fresh: concurrent callers share one fetch, and within `earlyMs` of the end it is fetched anew in the
 * background while the old one still serves. A failure rejects, and counts for `failureMs` so that a missing right is
 * not asked for with every call.
 */
export const renewed = <T extends Expiring>(
  fetch: () => Promise<T>,
  { earlyMs, failureMs, now }: { earlyMs: number; failureMs: number; now(): number },
): (() => Promise<T>) => {
  let current: T | undefined;
  let failed: { error: unknown; until: number } | undefined;
  let fetching: Promise<T> | undefined;
  const renew = (): Promise<T> => {
    fetching ??= fetch()
      .then(
        (value) => {
          current = value;
          failed = undefined;
          return value;
        },
        (error) => {
          failed = { error, until: now() + failureMs };
          throw error;
        },
      )
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  };
  return async () => {
    const left = (current?.expiresAt ?? 0) - now();
    const mayAsk = !failed || failed.until <= now();
    if (current && left > 0) {
      if (left <= earlyMs && mayAsk) renew().catch(() => {});
      return current;
    }
    if (!mayAsk) throw failed!.error;
    return renew();
  };
};
