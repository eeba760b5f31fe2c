/** Times are ISO 8601 strings in facts and milliseconds in arithmetic. */
export const toMs = (iso: string | undefined): number => (iso ? Date.parse(iso) : Number.NaN);

export const minutesBetween = (earlier: string | undefined, later: string | undefined): number =>
  (toMs(later) - toMs(earlier)) / 60_000;

/** Earliest of the times that are present and valid. */
export const earliest = (...times: (string | undefined)[]): string | undefined =>
  times.filter((time): time is string => !Number.isNaN(toMs(time))).sort((a, b) => toMs(a) - toMs(b))[0];

export const latest = (...times: (string | undefined)[]): string | undefined =>
  times.filter((time): time is string => !Number.isNaN(toMs(time))).sort((a, b) => toMs(b) - toMs(a))[0];

/** Milliseconds that a Date can hold: year -9999 to 9999 in our spelling. */
const maxMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Beyond the calendar it is the calendar's end; from no time, 1970. */
export const addMinutes = (iso: string, minutes: number): string => {
  const ms = toMs(iso) + minutes * 60_000 || 0;
  return new Date(Math.max(-maxMs, Math.min(maxMs, ms))).toISOString().replace('.000Z', 'Z');
};

/** `42 s`, `17 min`, `3 h`, `5 days`: how long something has lasted, for sentences. */
export const duration = (minutes: number): string => {
  if (minutes < 2) return `${Math.max(0, Math.round(minutes * 60))} s`;
  if (minutes < 120) return `${Math.round(minutes)} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 1440)} days`;
};
