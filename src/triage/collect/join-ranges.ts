import type { Series } from '../../domain/facts.ts';

/** Joins two ranges of the same series. */
export const joinRanges = (far: Series[], near: Series[]): Series[] => {
  const identity = (series: Series): string => JSON.stringify(Object.entries(series.labels).sort());
  const joined = new Map(far.map((series) => [identity(series), series]));
  for (const series of near) {
    const former = joined.get(identity(series));
    joined.set(identity(series), former ? { ...series, points: [...former.points, ...series.points] } : series);
  }
  return [...joined.values()];
};
