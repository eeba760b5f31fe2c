import type { Series } from '../domain/facts.ts';

export const lastValue = (series: Series | undefined): number => series?.points.at(-1)?.[1] ?? Number.NaN;
export const firstValue = (series: Series | undefined): number => series?.points[0]?.[1] ?? Number.NaN;
export const maxValue = (series: Series): number => Math.max(...series.points.map(([, value]) => value));
export const minValue = (series: Series): number => Math.min(...series.points.map(([, value]) => value));

export const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Value at or just before a time (unix seconds); NaN when the series begins later. */
export const valueAt = (series: Series, time: number): number =>
  series.points.filter(([at]) => at <= time).at(-1)?.[1] ?? Number.NaN;

/** Per-second increase of a counter between the first and last point of a window, resets counted as restarts at 0. */
export const rate = (series: Series, start = -Infinity, end = Infinity): number => {
  const points = series.points.filter(([at]) => at >= start && at <= end);
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || last[0] === first[0]) return Number.NaN;
  let increase = 0;
  for (let index = 1; index < points.length; index++) {
    const [previous, current] = [points[index - 1]![1], points[index]![1]];
    increase += current >= previous ? current - previous : current;
  }
  return increase / (last[0] - first[0]);
};

/** Rates between neighbouring points: a counter as a curve. */
export const rateCurve = (series: Series): Series => ({
  ...series,
  points: series.points.slice(1).map(([at, value], index) => {
    const [before, former] = series.points[index]!;
    return [at, (value >= former ? value - former : value) / Math.max(1, at - before)];
  }),
});

/** Sum of several series at the union of their times (a series holds its last value). */
export const sum = (list: Series[]): Series => {
  const times = [...new Set(list.flatMap((series) => series.points.map(([at]) => at)))].sort((a, b) => a - b);
  return {
    name: list[0]?.name ?? '',
    labels: {},
    points: times.map((at) => [at, list.reduce((total, series) => total + (valueAt(series, at) || 0), 0)]),
  };
};

/** Mean of the last quarter over the mean of the first quarter: above 1 it grew. NaN below four points. */
export const growth = (series: Series): number => {
  const quarter = Math.floor(series.points.length / 4);
  if (quarter < 1) return Number.NaN;
  const values = series.points.map(([, value]) => value);
  return mean(values.slice(-quarter)) / mean(values.slice(0, quarter));
};

/** Time (unix seconds) at which the series first exceeds `factor` × the mean of its first quarter. */
export const risesAt = (series: Series, factor: number): number | undefined => {
  const quarter = Math.max(1, Math.floor(series.points.length / 4));
  const base = mean(series.points.slice(0, quarter).map(([, value]) => value));
  return series.points.find(([, value]) => value > base * factor)?.[0];
};
