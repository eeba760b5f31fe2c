import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import { openLive } from '../../src/clusters.ts';
import { layers } from '../../src/domain/layer.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { redact } from '../../src/redaction/redact.ts';
import { loadRules } from '../../src/rules/load.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { unite } from '../../src/triage/collect/collection.ts';
import { collectLayer } from '../../src/triage/collect/layer.ts';
import { judge } from '../../src/triage/judge.ts';
import { triage } from '../../src/triage/triage.ts';
import { startKubernetesApi } from '../fakes/kubernetes/server.ts';
import { enlarge } from './large-cluster.ts';

/** Prints what the parts of a triage cost. Compare runs on one machine; nothing here fails. */
const cases = fileURLToPath(new URL('../cases', import.meta.url));

const cpuMs = <T>(work: () => T): { ms: number; value: T } => {
  const before = process.cpuUsage();
  const value = work();
  const used = process.cpuUsage(before);
  return { ms: (used.user + used.system) / 1000, value };
};

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const show = (what: string, ms: number, note = ''): void => {
  process.stdout.write(`${what.padEnd(58)} ${ms.toFixed(1).padStart(9)} ms  ${note}\n`);
};

/** A triage over HTTP against the API double, each answer delayed. */
const liveTriage = async (id: string, latencyMs: number): Promise<{ ms: number; requests: number }> => {
  const api = await startKubernetesApi(`${cases}/${id}`);
  api.faults.push({ resource: '*', latencyMs });
  const cluster = await openLive({ kubeconfig: api.kubeconfig }, undefined, 10_000);
  const target = alertTarget(await readAlerts(`${cases}/${id}/alert.json`), cluster.identity);
  const before = api.requests.length;
  const started = performance.now();
  await triage(ruleSet, target, cluster.readers());
  const ms = performance.now() - started;
  const requests = api.requests.length - before;
  process.stdout.write(`(at most ${api.peakInFlight} requests in flight)\n`);
  await api.close();
  return { ms, requests };
};

const ruleSet = await loadRules();
const load = async (id: string) => {
  const snapshot = await openSnapshot(`${cases}/${id}`);
  const target = alertTarget(await readAlerts(`${cases}/${id}/alert.json`), snapshot.meta.cluster);
  const batches = await Promise.all(layers.map((layer) => collectLayer(layer, target, snapshot)));
  return { snapshot, target, batches };
};

const { snapshot, target, batches } = await load('node-count-doubled-a');
const facts = enlarge(unite(batches, target, snapshot.now()), 300, 5000);
const judged = Array.from({ length: 9 }, () => cpuMs(() => attribute(judge(ruleSet.rules, facts), ruleSet.version)).ms);
show(
  'judge and attribute, 300 nodes and 5,000 pods (CPU)',
  median(judged),
  `${ruleSet.rules.length} rules, ${facts.objects.length} objects`,
);

const size = JSON.stringify(batches).length;
const redacted = Array.from({ length: 5 }, () => cpuMs(() => redact(batches)).ms);
show('redact the facts of one incident (CPU)', median(redacted), `${(size / 1e6).toFixed(1)} MB`);

const live = await liveTriage('orders-containers-creating', 50);
show('a live triage, API server answering after 50 ms (wall)', live.ms, `${live.requests} requests`);

const all = await readdir(cases);
const started = performance.now();
for (const id of all) {
  const one = await openSnapshot(`${cases}/${id}`);
  await triage(ruleSet, alertTarget(await readAlerts(`${cases}/${id}/alert.json`), one.meta.cluster), one);
}
show('a whole triage of a snapshot (wall, mean)', (performance.now() - started) / all.length, `${all.length} cases`);
show('resident memory of this process', 0, `${Math.round(process.memoryUsage().rss / 1e6)} MB`);
