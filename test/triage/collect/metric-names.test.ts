import { expect, test } from 'vitest';
import type { Series } from '../../../src/domain/facts.ts';
import { Collection } from '../../../src/triage/collect/collection.ts';
import type { ClusterReaders, MetricQuery } from '../../../src/triage/ports.ts';

/** A Prometheus that holds these metrics, each with one value of now. */
const holding = (...names: string[]): ClusterReaders => ({
  kubernetes: {} as ClusterReaders['kubernetes'],
  metrics: {
    series: async ({ name, end }: MetricQuery) => ({
      ok: true,
      complete: true,
      value: names.includes(name) ? [{ name, labels: { nodepool: 'default' }, points: [[end, 7]] } as Series] : [],
    }),
    names: async () => ({ ok: true, complete: true, value: names }),
  },
  cloud: null,
  maxApiCalls: 30,
  now: () => '2026-11-20T08:30:00Z',
});

const target = { cluster: { name: 'prod', provider: 'eks' as const }, subjects: [], alerts: [] };
const read = async (metric: string, readers: ClusterReaders) => {
  const collection = new Collection('platform', target, readers);
  await collection.metric(metric);
  return collection.facts;
};

test.each([
  ['karpenter_nodepools_usage', 'karpenter_nodepool_usage'],
  ['karpenter_nodes_terminated_total', 'karpenter_nodes_terminated'],
  ['karpenter_scheduler_queue_depth', 'karpenter_provisioner_scheduling_queue_depth'],
])('%s is read by that name whether it is called so or %s', async (current, older) => {
  for (const name of [current, older]) {
    const facts = await read(current, holding(name));
    expect(facts.series.map((series) => series.name)).toContain(current);
    expect(new Set(facts.series.map((series) => series.name)).size).toBe(1);
    expect(facts.reads).toMatchObject([{ what: current, complete: true }]);
  }
});

test('a metric that nobody has is read and empty', async () => {
  const facts = await read('karpenter_nodepools_usage', holding());
  expect(facts.series).toEqual([]);
  expect(facts.reads).toMatchObject([{ what: 'karpenter_nodepools_usage', complete: true, count: 0 }]);
  expect(facts.reads[0]!.gap).toBeUndefined();
});
