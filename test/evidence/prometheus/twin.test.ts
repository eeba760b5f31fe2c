import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../../../src/evidence/kubernetes/snapshot-files.ts';
import { prometheusReader } from '../../../src/evidence/prometheus/live.ts';
import { parseOpenMetrics } from '../../../src/evidence/prometheus/openmetrics.ts';
import { metricsSnapshot } from '../../../src/evidence/prometheus/snapshot.ts';
import type { MetricQuery, MetricsReader } from '../../../src/triage/ports.ts';
import { prometheusInstalled, type RunningPrometheus, startPrometheus } from '../../services/prometheus.ts';

const file = 'test/cases/node-count-doubled-a/metrics.om';

describe.skipIf(!prometheusInstalled())('a real Prometheus and the file it was filled from', () => {
  let prometheus: RunningPrometheus;
  let live: MetricsReader;
  let recorded: MetricsReader;
  const queries: MetricQuery[] = [];

  beforeAll(async () => {
    prometheus = await startPrometheus(file);
    live = prometheusReader({ url: prometheus.url });
    recorded = (await metricsSnapshot(file))!;
    const series = parseOpenMetrics(await readText(file));
    const times = series.flatMap(({ points }) => points.map(([time]) => time));
    // Seven seconds off the samples' own grid: whether a sample of exactly the lookback's age counts differs
    // between Prometheus 2 and 3.
    const range = { start: Math.min(...times) - 593, end: Math.max(...times) + 607 };
    for (const name of new Set(series.map((one) => one.name))) {
      for (const stepSeconds of [30, 60, 300]) queries.push({ name, ...range, stepSeconds });
    }
    const [first] = series.filter(({ labels }) => Object.keys(labels).length > 0);
    const [label, value] = Object.entries(first!.labels)[0]!;
    queries.push({ name: first!.name, matchers: { [label]: value }, ...range, stepSeconds: 60 });
    queries.push({ name: first!.name, matchers: { [label]: 'no "such" \\ value\n' }, ...range, stepSeconds: 60 });
    queries.push({ name: 'absent_metric', ...range, stepSeconds: 60 });
  });
  afterAll(() => prometheus?.stop());

  it('answer every query alike', async () => {
    let points = 0;
    for (const query of queries) {
      const answer = await live.series(query);
      expect(answer, JSON.stringify(query)).toEqual(await recorded.series(query));
      if (answer.ok) for (const series of answer.value) points += series.points.length;
    }
    expect(points).toBeGreaterThan(500);
  });

  it('name the same metrics', async () => {
    const { start, end, matchers } = queries.find((query) => query.matchers)!;
    const answer = await live.names({ start, end });
    expect(answer).toEqual(await recorded.names({ start, end }));
    expect(answer.ok && answer.value.length).toBeGreaterThan(2);
    expect(await live.names({ start, end, matchers: matchers! })).toEqual(
      await recorded.names({ start, end, matchers: matchers! }),
    );
  });

  it('answers with Prometheus’ own words when a query is wrong', async () => {
    const read = await live.series({ name: 'up{', start: 0, end: 60, stepSeconds: 60 });
    expect(read).toMatchObject({
      ok: false,
      gap: { reason: 'failed', message: expect.stringContaining('parse error') },
    });
  });
});
