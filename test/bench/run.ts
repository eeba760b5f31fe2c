import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import type { Facts } from '../../src/domain/facts.ts';
import { layers } from '../../src/domain/layer.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { redact } from '../../src/redaction/redact.ts';
import { loadRules } from '../../src/rules/load.ts';
import { attribute } from '../../src/triage/attribute.ts';
import { unite } from '../../src/triage/collect/collection.ts';
import { collectLayer } from '../../src/triage/collect/layer.ts';
import { judge } from '../../src/triage/judge.ts';
import { triage } from '../../src/triage/triage.ts';
import { hasPostgres } from '../services/postgres.ts';
import { hasRedis } from '../services/redis.ts';
import { enlarge } from './large-cluster.ts';
import { withLargeFolder } from './large-folder.ts';
import { liveTriage } from './live-triage.ts';
import { peakMemory } from './process-memory.ts';

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

const ruleSet = await loadRules();
const load = async (dir: string) => {
  const snapshot = await openSnapshot(dir);
  const target = alertTarget(await readAlerts(`${dir}/alert.json`), snapshot.meta.cluster);
  const batches = await Promise.all(layers.map((layer) => collectLayer(layer, target, snapshot)));
  return { batches, facts: unite(batches, target, snapshot.now()) };
};
/** As a worker judges that has judged before: the first judgements of a process wait for its code to be compiled. */
const warmUps = 10;
const showJudging = (what: string, facts: Facts): void => {
  const [first, ...others] = Array.from(
    { length: warmUps + 21 },
    () => cpuMs(() => attribute(judge(ruleSet.rules, facts), ruleSet.version)).ms,
  );
  const note = `${ruleSet.rules.length} rules, ${facts.objects.length} objects; the first of a process ${first!.toFixed(0)} ms`;
  show(what, median(others.slice(warmUps - 1)), note);
};

const incident = `${cases}/node-count-doubled-a`;
const large = { nodes: 300, pods: 5000 };
const { batches, facts } = await load(incident);
// No triage reads all objects of a cluster: this bounds what judging costs, whatever was collected.
showJudging('judge and attribute, all of 300 nodes and 5,000 pods (CPU)', enlarge(facts, large.nodes, large.pods));
const collected = await withLargeFolder(incident, large, load);
showJudging('judge and attribute, what a triage collects of it (CPU)', collected.facts);

const size = JSON.stringify(batches).length;
const redacted = Array.from({ length: 5 }, () => cpuMs(() => redact(batches)).ms);
show('redact the facts of one incident (CPU)', median(redacted), `${(size / 1e6).toFixed(1)} MB`);

const latencyMs = 50;
for (const size of [null, large]) {
  const measure = (dir: string) => liveTriage(dir, ruleSet, latencyMs);
  const dir = `${cases}/orders-containers-creating`;
  const costs = size ? await withLargeFolder(dir, size, measure) : await measure(dir);
  for (const [state, { wallMs, requests, roundTrips }] of Object.entries(costs))
    show(
      `live triage, ${latencyMs} ms an answer, ${state}${size ? `, ${size.pods} pods` : ''} (wall)`,
      wallMs,
      `${requests} requests, ${roundTrips} round trips`,
    );
}

const all = await readdir(cases);
const started = performance.now();
for (const id of all) {
  const one = await openSnapshot(`${cases}/${id}`);
  await triage(ruleSet, alertTarget(await readAlerts(`${cases}/${id}/alert.json`), one.meta.cluster), one);
}
show('a whole triage of a snapshot (wall, mean)', (performance.now() - started) / all.length, `${all.length} cases`);
show('resident memory of this process', 0, `${Math.round(process.memoryUsage().rss / 1e6)} MB`);

if (hasPostgres() && hasRedis()) {
  const incidents = ['node-count-doubled-a', 'catalog-api-restarts-every-hour', 'orders-containers-creating'];
  const { serverMb, workerMb, triages, awsServices } = await peakMemory(incidents.map((id) => `${cases}/${id}`));
  const note = `${triages} live triages, ${awsServices} AWS services asked, PostgreSQL and Redis`;
  for (const [role, mb] of Object.entries({ server: serverMb, worker: workerMb }))
    process.stdout.write(`${`peak memory of a ${role} process`.padEnd(58)} ${mb.toFixed(0).padStart(9)} MB  ${note}\n`);
}
