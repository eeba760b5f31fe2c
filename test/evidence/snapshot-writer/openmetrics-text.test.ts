import { describe, expect, it } from 'vitest';
import type { Series } from '../../../src/domain/facts.ts';
import { parseOpenMetrics } from '../../../src/evidence/prometheus/openmetrics.ts';
import { openMetricsReader } from '../../../src/evidence/prometheus/snapshot.ts';
import { openMetricsText } from '../../../src/evidence/snapshot-writer/openmetrics-text.ts';
import { Collection, historyHours, recentHours } from '../../../src/triage/collect/collection.ts';
import type { ClusterReaders, MetricsReader } from '../../../src/triage/ports.ts';

const now = '2026-11-20T08:30:00Z';
const end = Date.parse(now) / 1000;
const recent = end - recentHours * 3600;

/** What a triage reads of one metric. */
const collected = async (metrics: MetricsReader): Promise<Series[]> => {
  const readers = { metrics, now: () => now } as ClusterReaders;
  const target = { cluster: { name: 'c', provider: 'eks' as const }, subjects: [], alerts: [] };
  const collection = new Collection('app', target, readers);
  await collection.metric('m');
  return collection.facts.series;
};

const scraped = (from: number, to: number, everySeconds: number): Series['points'] =>
  Array.from({ length: Math.floor((to - from) / everySeconds) + 1 }, (_, index) => [
    from + index * everySeconds,
    index,
  ]);

describe('metrics written down as they were sampled', () => {
  it.each<[string, Series['points']]>([
    ['a series that goes on', scraped(end - 3 * 3600, end, 30)],
    ['one that stopped', scraped(end - 3 * 3600, end - 3600, 30)],
    ['one that stopped a moment ago', scraped(end - 3600, end - 130, 15)],
    ['scrapes off the minute', scraped(end - 7211, end - 3607, 47)],
    ['a gap', [...scraped(end - 9000, end - 6000, 60), ...scraped(end - 4000, end, 60)]],
    ['a gap shorter than the lookback', [...scraped(end - 9000, end - 6000, 60), ...scraped(end - 5790, end, 60)]],
    ['one sample', [[end - 1234, 7]]],
    ['one sample just before the last hours', [[recent - 200, 7]]],
    ['a last sample just within them', [[recent + 10, 7]]],
    ['a constant', scraped(end - 9000, end - 3000, 60).map(([time]) => [time, 5])],
    ['a week', scraped(end - historyHours * 3600, end, 120)],
    ['what only the former days hold', scraped(end - 50 * 3600, end - 40 * 3600, 60)],
    [
      'values that are no numbers',
      [
        [end - 600, Number.NaN],
        [end - 300, Number.POSITIVE_INFINITY],
        [end, -0.25],
      ],
    ],
  ])('%s is sampled to the same points again', async (_, points) => {
    const first = await collected(openMetricsReader([{ name: 'm', labels: { pod: 'a' }, points }]));
    expect(first[0]?.points.length).toBeGreaterThan(0);
    const text = openMetricsText(first, end);
    expect(await collected(openMetricsReader(parseOpenMetrics(text)))).toEqual(first);
  });

  it('keeps every character of a label, and ends as OpenMetrics does', () => {
    const labels = { path: 'a\\b "c"\nd', empty_next: '{},=' };
    const text = openMetricsText([{ name: 'm:rate5m', labels, points: [[end, 1]] }], end);
    expect(parseOpenMetrics(text)).toEqual([{ name: 'm:rate5m', labels, points: [[end, 1]] }]);
    expect(text.endsWith('\n# EOF\n')).toBe(true);
  });

  it('leaves out names that would need quotes', () => {
    const odd: Series[] = [
      { name: 'http.requests', labels: {}, points: [[end, 1]] },
      { name: 'm', labels: { 'a.b': 'c' }, points: [[end, 1]] },
    ];
    expect(openMetricsText(odd, end)).toBe('# EOF\n');
  });
});
