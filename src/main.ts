import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { configuredClusters } from './clusters.ts';
import type { Config } from './config/schema.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import type { Records } from './incidents/ports.ts';
import { startRelay } from './incidents/relay.ts';
import { createIncidents, type Incidents } from './incidents/use-cases.ts';
import type { Logger } from './log.ts';
import { createQueue, type TriageHandlers } from './queue/triage-queue.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import { loadRules } from './rules/load.ts';
import type { Shared } from './server.ts';
import { silencersOf } from './silencers.ts';
import { loadMessages } from './slack/messages.ts';
import { openRecords } from './storage/open-records.ts';
import { explainWith, triageSteps } from './triage-steps.ts';
import { type Closers, wakeOn } from './wakes.ts';

/** `serve` answers HTTP and Slack, sends, and works on jobs; `worker` only works on jobs. */
export type Role = 'serve' | 'worker';

export interface Running {
  /** Where the server listens; null for a worker. */
  url: string | null;
  records: Records;
  incidents: Incidents;
  /** Takes no more work, lets what is under way finish, and closes every connection. */
  stop(): Promise<void>;
}

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const nowIso = (): string => new Date().toISOString();
const maxTimedRuns = 10_000;

/** The composition root: the only place that constructs adapters. */
export const start = async (config: Config, directory: OwnerDirectory, log: Logger, role: Role): Promise<Running> => {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { ...(await compose(config, directory, log, role, closers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const compose = async (config: Config, directory: OwnerDirectory, log: Logger, role: Role, closers: Closers) => {
  const onError = (error: unknown): void => log.error(error);
  const { records, pool, close } = await openRecords({
    databaseUrl: config.databaseUrl?.reveal(),
    dataFolder: config.dataDir,
    newId: randomUUID,
    onError,
  });
  closers.push(close);
  const redisUrl = config.redisUrl?.reveal();
  const queue = await createQueue({ backend: redisUrl ? { redisUrl } : { pool }, onError });
  closers.push(() => queue.close());

  const messages = loadMessages(folder('../templates/messages'), config.language);
  const pageUrl = { current: null as ((incidentId: string) => string) | null };
  const clusters = configuredClusters(config);
  const ruleSet = await loadRules();
  const steps = triageSteps({
    config,
    directory,
    clusters,
    ruleSet,
    messages,
    now: nowIso,
    pageUrl: (incidentId) => pageUrl.current?.(incidentId) ?? null,
  });
  const incidents = createIncidents({ records, steps, now: nowIso, silencers: silencersOf(config, log) });
  const metrics = createMetrics();
  queue.work(triageHandlers(incidents, records, metrics, log), config.triage.concurrency);
  const relay = startRelay({ store: records.store, queue, giveUp: incidents.giveUp, now: nowIso, onError });
  closers.push(() => relay.stop());
  const shared: Shared = {
    explain: explainWith(ruleSet),
    config,
    log,
    records,
    queue,
    incidents,
    messages,
    metrics,
    relay,
    closers,
    directory,
    clusters,
  };
  const url = role === 'serve' ? await (await import('./server.ts')).serve(shared, steps.presentation) : null;
  // Slack's readers cannot open a page of this machine's loopback; the console's can.
  if (url && !config.slack.botToken) pageUrl.current = (incidentId) => `${url}/incidents/${incidentId}`;
  if (role === 'worker') await wakeOn(records, closers, { run: relay.wake });
  return { url, records, incidents };
};

/** The jobs of a triage, timed from the first layer that this process reads. */
const triageHandlers = (incidents: Incidents, records: Records, metrics: Metrics, log: Logger): TriageHandlers => {
  const startedAtMs = new Map<string, number>();
  return {
    async layer(incidentId, run, layer) {
      const key = `${incidentId}/${run}`;
      if (!startedAtMs.has(key)) startedAtMs.set(key, Date.now());
      // The verdict of a run may be another process's job: its start here is forgotten in time.
      if (startedAtMs.size > maxTimedRuns) startedAtMs.delete(startedAtMs.keys().next().value!);
      await incidents.readLayer(incidentId, run, layer);
    },
    async verdict(incidentId, run) {
      await incidents.judge(incidentId, run);
      const key = `${incidentId}/${run}`;
      const started = startedAtMs.get(key);
      startedAtMs.delete(key);
      const verdict = (await records.store.record(incidentId))?.verdict;
      if (!verdict) return;
      if (started !== undefined) metrics.triaged(Date.now() - started, verdict.state, verdict.owner);
      const { owner, state, confidence } = verdict;
      log.info({ incidentId, run, owner, state, confidence }, 'verdict');
    },
  };
};
