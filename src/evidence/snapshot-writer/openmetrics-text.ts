import type { Series } from '../../domain/facts.ts';
import { recentHours } from '../../triage/collect/collection.ts';
import { lookbackSeconds } from '../prometheus/snapshot.ts';

/** Triage reads the last hours by the minute. */
const stepSeconds = 60;

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * OpenMetrics text with timestamps, as `promtool tsdb create-blocks-from openmetrics` reads it. `end` is the moment of
 * the reading, unix seconds. Names that need quotes (UTF-8 names of Prometheus 3) are left out.
 */
export const openMetricsText = (series: Series[], end: number): string => {
  const rows = series
    .filter(({ name, labels }) => metricName.test(name) && Object.keys(labels).every((label) => labelName.test(label)))
    .map((one) => ({ name: one.name, key: one.name + labelText(one.labels), points: asScraped(one.points, end) }))
    .sort((a, b) => (a.name < b.name || (a.name === b.name && a.key < b.key) ? -1 : 1));
  const lines = rows.flatMap(({ name, key, points }, index) => [
    ...(rows[index - 1]?.name === name ? [] : [`# TYPE ${name} unknown`]),
    ...points.map(([time, value]) => `${key} ${valueText(value)} ${time}`),
  ]);
  return `${[...lines, '# EOF'].join('\n')}\n`;
};

const labelText = (labels: Record<string, string>): string => {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
};

const valueText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);

/**
 * The samples behind the points of a range query. Prometheus repeats a sample for the lookback, so a series that stops
 * ends in repetitions; written down as samples they would be repeated again. The last true sample is as old as the
 * lookback allows.
 */
const asScraped = (points: Series['points'], end: number): Series['points'] => {
  const recent = end - recentHours * 3600;
  const repeatedSeconds = lookbackSeconds - stepSeconds;
  return runsOf(points).flatMap((run) => {
    const [last, value] = run.at(-1)!;
    const scraped = last - repeatedSeconds;
    const repeats = run.filter(([time]) => time >= scraped);
    const isRepeated =
      last >= recent &&
      last + stepSeconds <= end &&
      repeats.every((point) => Object.is(point[1], value)) &&
      (run[0]![0] <= scraped || run[0]![0] - stepSeconds < recent);
    return isRepeated ? [...run.filter(([time]) => time < scraped), [scraped, value] as [number, number]] : run;
  });
};

/** Parts of a series without a step missing in the time read by the minute. */
const runsOf = (points: Series['points']): Series['points'][] => {
  const runs: Series['points'][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    if (run && point[0] - run.at(-1)![0] <= stepSeconds) run.push(point);
    else runs.push([point]);
  }
  return runs;
};
