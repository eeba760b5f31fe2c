import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { configuredClusters } from './clusters.ts';
import { commandDeps } from './command-deps.ts';
import { loadCommands } from './commands/load.ts';
import { commandRunner } from './commands/run.ts';
import type { Config } from './config/schema.ts';
import { consoleSender } from './console/sender.ts';
import type { IncidentView } from './domain/view.ts';
import type { HandlerDeps } from './http/deps.ts';
import { loadRoutes } from './http/load-routes.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import type { Loop } from './incidents/loop.ts';
import { startOutboxPump } from './incidents/outbox-pump.ts';
import type { Records, RecordsChange, Sender } from './incidents/ports.ts';
import { startRelay } from './incidents/relay.ts';
import { createIncidents, type Incidents } from './incidents/use-cases.ts';
import type { Logger } from './log.ts';
import { createQueue, type Queue, type TriageHandlers } from './queue/triage-queue.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import { loadRules } from './rules/load.ts';
import { silencersOf } from './silencers.ts';
import { loadActions } from './slack/actions.ts';
import { createSlackApp, type SlackApp } from './slack/app.ts';
import { postingClient, type SlackConnection } from './slack/client.ts';
import { connectPatiently } from './slack/connect.ts';
import { loadForms } from './slack/forms.ts';
import { loadMessages, type Messages } from './slack/messages.ts';
import { createSlackSender } from './slack/sender.ts';
import { openRecords } from './storage/open-records.ts';
import { explainWith, triageSteps } from './triage-steps.ts';

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
const dayMs = 24 * 60 * 60_000;
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

type Closers = (() => Promise<unknown>)[];

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
  const deps = commandDeps({ config, clusters, directory, incidents, store: records.store, messages, now: nowIso });
  const command = commandRunner(await loadCommands(folder('../handlers/commands')), deps);
  const metrics = createMetrics();
  queue.work(triageHandlers(incidents, records, metrics, log), config.triage.concurrency);
  const relay = startRelay({ store: records.store, queue, giveUp: incidents.giveUp, now: nowIso, onError });
  closers.push(() => relay.stop());
  const shared = {
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
    command,
  };
  const url = role === 'serve' ? await serve(shared, steps.presentation) : null;
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

interface Shared {
  explain: ReturnType<typeof explainWith>;
  config: Config;
  log: Logger;
  records: Records;
  queue: Queue;
  incidents: Incidents;
  messages: Messages;
  metrics: Metrics;
  relay: Loop;
  closers: Closers;
  directory: OwnerDirectory;
  command: ReturnType<typeof commandRunner>;
}

/** HTTP, Slack, sending and housekeeping: what only a server process does. */
const serve = async (shared: Shared, presentation: Presentation): Promise<string> => {
  const { config, log, records, relay, closers } = shared;
  const onError = (error: unknown): void => log.error(error);
  const slack = await connectSlack(shared);
  const pump = startOutboxPump({
    outbox: records.outbox,
    sender: slack?.sender ?? consoleSender(nowIso),
    now: nowIso,
    onError,
  });
  closers.push(() => pump.stop());

  const listeners = new Set<(incidentId: string) => void>();
  await wakeOn(records, closers, {
    run: relay.wake,
    outbox: pump.wake,
    any: ({ incidentId }) => {
      for (const listener of listeners) listener(incidentId);
    },
  });
  const prune = setInterval(() => {
    const before = new Date(Date.now() - config.retentionDays * dayMs).toISOString();
    records.store.prune(before).catch(onError);
  }, dayMs / 24);
  closers.push(async () => clearInterval(prune));

  const deps = handlerDeps(shared, presentation, slack?.app ?? null, listeners);
  const server = createServer(deps, await loadRoutes());
  await server.listen({ host: config.server.host, port: config.server.port });
  closers.push(() => server.close());
  if (slack) {
    const stopping = new AbortController();
    closers.push(async () => {
      stopping.abort();
      await slack.app.stop();
    });
    await connectPatiently(slack.app, log, stopping.signal);
  }
  const { port } = server.server.address() as AddressInfo;
  return `http://localhost:${port}`;
};

type Presentation = ReturnType<typeof triageSteps>['presentation'];

const handlerDeps = (
  { explain, config, records, queue, incidents, metrics, command }: Shared,
  presentation: Presentation,
  slack: SlackApp | null,
  listeners: Set<(incidentId: string) => void>,
): HandlerDeps => ({
  config,
  now: nowIso,
  store: records.store,
  outbox: records.outbox,
  metrics,
  receive: incidents.receive,
  command,
  act: incidents.act,
  rerun: incidents.rerun,
  slackEvents: slack?.requestListener ?? null,
  async view(incidentId): Promise<IncidentView | null> {
    const record = await records.store.record(incidentId);
    return record && { ...record, ...presentation(record.incident) };
  },
  async reasoning(incidentId) {
    const record = await records.store.record(incidentId);
    return record && explain(record, await records.store.facts(incidentId));
  },
  onChange(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  checks: {
    async database() {
      await records.store.list(1);
    },
    async queue() {
      await queue.counts();
    },
  },
  outboxDepth: () => records.outbox.depth(),
  deadJobs: async () => (await queue.counts()).dead,
});

/** The Slack app and its sender; null while no bot token is set. */
const connectSlack = async ({
  config,
  log,
  incidents,
  messages,
  directory,
  command,
  records,
}: Shared): Promise<{ app: SlackApp; sender: Sender } | null> => {
  const { botToken, appToken, signingSecret, apiUrl, channel } = config.slack;
  const { triageCommand, incidentCommand, handoffCommand, ownerCommand } = config.slack;
  if (!botToken) return null;
  const connection: SlackConnection = { botToken: botToken.reveal(), apiUrl, log };
  const client = postingClient(connection);
  const app = createSlackApp({
    ...connection,
    ...(appToken && { appToken: appToken.reveal() }),
    ...(signingSecret && { signingSecret: signingSecret.reveal() }),
    actions: await loadActions(folder('../handlers/actions')),
    forms: await loadForms(folder('../handlers/views')),
    teams: Object.values(directory.teams),
    slashNames: {
      triage: triageCommand,
      incident: incidentCommand,
      handoff: handoffCommand,
      owner: ownerCommand,
    },
    command,
    incidentAt: (at, ts) => records.store.atMessage(at, ts),
    incidents,
    messages,
    client,
    now: Date.now,
  });
  return { app, sender: createSlackSender({ client, messages, log, fallbackChannel: channel }) };
};

interface Wakes {
  run?: () => void;
  outbox?: () => void;
  any?: (change: RecordsChange) => void;
}

const wakeOn = async (records: Records, closers: Closers, wakes: Wakes): Promise<void> => {
  const unlisten = await records.listen((change) => {
    wakes[change.topic]?.();
    wakes.any?.(change);
  });
  closers.push(unlisten);
};
