import type { Gap, Series } from '../../domain/facts.ts';
import type { MetricQuery } from '../../triage/ports.ts';

/** Prometheus refuses more points per series (web/api/v1: "exceeded maximum resolution of 11,000 points"). */
const maxPoints = 11_000;

/** Why a query can have no answer; null where it can. */
export function invalidQuery({ name, start, end, stepSeconds }: MetricQuery): Gap | null {
  const problem =
    stepSeconds <= 0 || end < start
      ? `the range ${start} to ${end} by ${stepSeconds} s is empty`
      : (end - start) / stepSeconds > maxPoints && `the range has more than ${maxPoints} steps`;
  return problem
    ? { reason: 'failed', message: `cannot query ${name}: ${problem}`, fix: 'choose a longer step' }
    : null;
}

/** The times of a range query, unix seconds. */
export const gridOf = ({ start, end, stepSeconds }: MetricQuery): number[] =>
  Array.from({ length: Math.floor((end - start) / stepSeconds) + 1 }, (_, index) => start + index * stepSeconds);

/** The selector in PromQL: `up{job="api"}`, with further matchers as they are. */
export function selectorOf({ name, matchers }: Pick<MetricQuery, 'name' | 'matchers'>, ...more: string[]): string {
  const own = Object.entries(matchers ?? {}).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  const terms = [...more, ...own];
  return terms.length === 0 ? name : `${name}{${terms.join(',')}}`;
}

/** Labels in one order, so that the same series is the same string. */
export const seriesKey = (series: Pick<Series, 'name' | 'labels'>): string =>
  JSON.stringify([series.name, Object.entries(series.labels).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** Readers answer in one order, so that the same facts stay the same bytes. */
export const sorted = (series: Series[]): Series[] =>
  series
    .map((one) => ({ one, key: seriesKey(one) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ one }) => one);
