import type { Series } from '../../domain/facts.ts';
import type { MetricQuery, MetricsReader } from '../../triage/ports.ts';
import { SnapshotError } from '../kubernetes/snapshot-error.ts';
import { readText } from '../kubernetes/snapshot-files.ts';
import { OpenMetricsError, parseOpenMetrics } from './openmetrics.ts';
import { gridOf, invalidQuery, sorted } from './query.ts';

/** How long a sample stays the current value: Prometheus' default `--query.lookback-delta`, its end excluded. */
export const lookbackSeconds = 300;

/** Serves a snapshot's metrics.om as a Prometheus' query_range would; null where there is no file. */
export async function metricsSnapshot(path: string | undefined): Promise<MetricsReader | null> {
  if (!path) return null;
  const text = await readText(path);
  try {
    return openMetricsReader(parseOpenMetrics(text));
  } catch (error) {
    if (error instanceof OpenMetricsError) throw new SnapshotError(path, `is not OpenMetrics text: ${error.message}`);
    throw error;
  }
}

/** A metric that is absent was not scraped, or has no series: the answer is empty, as Prometheus' is. */
export function openMetricsReader(recorded: Series[]): MetricsReader {
  const byName = Map.groupBy(sorted(recorded), (series) => series.name);
  return {
    async series(query) {
      const gap = invalidQuery(query);
      if (gap) return { ok: false, gap };
      const matchers = Object.entries(query.matchers ?? {});
      const value = (byName.get(query.name) ?? [])
        .filter(({ labels }) => matchers.every(([label, wanted]) => (labels[label] ?? '') === wanted))
        .map((series) => ({ ...series, points: sampled(series.points, query) }))
        .filter(({ points }) => points.length > 0);
      return { ok: true, value, complete: true };
    },
    async names({ matchers = {}, start, end }) {
      const wanted = Object.entries(matchers);
      const value = [...byName].filter(([, list]) =>
        list.some(
          ({ labels, points }) =>
            wanted.every(([label, expected]) => (labels[label] ?? '') === expected) &&
            points.some(([time]) => time >= start && time <= end),
        ),
      );
      return { ok: true, value: value.map(([name]) => name).sort(), complete: true };
    },
  };
}

/** At each step the newest sample that is younger than the lookback. */
function sampled(points: Series['points'], query: MetricQuery): Series['points'] {
  const result: Series['points'] = [];
  let next = 0;
  for (const time of gridOf(query)) {
    while (next < points.length && points[next]![0] <= time) next += 1;
    const newest = points[next - 1];
    if (newest && time - newest[0] < lookbackSeconds) result.push([time, newest[1]]);
  }
  return result;
}
