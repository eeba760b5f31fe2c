import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import type { Facts } from '../../../src/domain/facts.ts';
import type { KubeObject } from '../../../src/domain/kubernetes.ts';
import { layers } from '../../../src/domain/layer.ts';
import { scoreCase, summarise } from '../../../src/eval/score.ts';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { loadRules } from '../../../src/rules/load.ts';
import { collectLayer } from '../../../src/triage/collect/layer.ts';
import { decide } from '../../../src/triage/triage.ts';
import { enlarge } from '../../bench/large-cluster.ts';
import { meteredCluster } from './metered.ts';

const folder = new URL('../../cases/', import.meta.url).pathname;
const ruleSet = await loadRules();
const ids = (await readdir(folder)).sort();

/** What opening a cluster takes before: who it is, and what it serves, at once. */
const opening = { calls: 2, roundTrips: 1 };

const triaged = async (id: string, maxApiCalls: number, neighbours: KubeObject[]) => {
  const snapshot = await openSnapshot(folder + id);
  const target = alertTarget(await readAlerts(`${folder}${id}/alert.json`), snapshot.meta.cluster);
  const cluster = await meteredCluster(snapshot, maxApiCalls, neighbours);
  const read = await Promise.all(
    layers.map(async (layer) => {
      const { readers, roundTrips } = cluster.readers();
      return { facts: await collectLayer(layer, target, readers), roundTrips: roundTrips() };
    }),
  );
  const facts = read.map((layer) => layer.facts);
  return {
    calls: cluster.calls.length + opening.calls,
    roundTrips: Math.max(...read.map(({ roundTrips }) => roundTrips)) + opening.roundTrips,
    unread: facts.flatMap(({ reads }) => reads.filter(({ gap }) => gap?.reason === 'over-budget')),
    scored: scoreCase(id, decide(ruleSet, target, facts, snapshot.now()).verdict, snapshot.meta.expected!),
  };
};

const neighboursOf = (nodes: number, pods: number): KubeObject[] =>
  enlarge({ objects: [] as KubeObject[] } as Facts, nodes, pods).objects;

/**
 * Most logs that a layer asks for are in no case's folder and cost their call all the same, and in a cluster cut at so
 * many objects a cause elsewhere may stay unseen: an honest "undetermined" is right then, a page to the wrong owner not.
 */
describe.each([
  { cluster: 'its own cluster', neighbours: [] as KubeObject[], least: 0.97 },
  { cluster: 'a cluster of 300 nodes and 5,000 pods', neighbours: neighboursOf(300, 5000), least: 0.95 },
])('every case, read with 30 calls in $cluster', async ({ neighbours, least }) => {
  const results: Awaited<ReturnType<typeof triaged>>[] = [];
  for (const id of ids) results.push(await triaged(id, 30, neighbours));
  const summary = summarise(results.map(({ scored }) => scored));

  it('finds the owner, and pages no wrong one', () => {
    expect(summary.ownerAccuracy, summary.failed.join(', ')).toBeGreaterThanOrEqual(least);
    expect(summary.wrongPagesAtHigh).toBe(0);
  });

  it('costs at most 30 calls and four round trips, opening the cluster included', () => {
    expect(Math.max(...results.map(({ calls }) => calls))).toBeLessThanOrEqual(30);
    expect(Math.max(...results.map(({ roundTrips }) => roundTrips))).toBeLessThanOrEqual(4);
  });
});

it('what the calls did not suffice for is named, with the setting that reads it', async () => {
  const { unread, calls } = await triaged('orders-containers-creating', 16, []);
  expect(calls).toBeLessThanOrEqual(16);
  expect(unread.length).toBeGreaterThan(0);
  expect(unread[0]?.gap).toMatchObject({
    message: expect.stringMatching(/^\S+.*: not read, the triage's 16 API calls were spent on what tells more$/),
    fix: 'raise triage.maxApiCalls above 16',
  });
});
