import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Clusters } from './clusters.ts';
import { commandDeps } from './command-deps.ts';
import { loadCommands } from './commands/load.ts';
import { commandRunner } from './commands/run.ts';
import type { Config } from './config/schema.ts';
import { consoleSender } from './console/sender.ts';
import type { IncidentView } from './domain/view.ts';
import type { HandlerDeps } from './http/deps.ts';
import { loadRoutes } from './http/load-routes.ts';
import type { Metrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import { incidentCase } from './incident-case.ts';
import type { Loop } from './incidents/loop.ts';
import { startOutboxPump } from './incidents/outbox-pump.ts';
import type { Records, Sender } from './incidents/ports.ts';
import type { Incidents } from './incidents/use-cases.ts';
import type { Logger } from './log.ts';
import type { Queue } from './queue/triage-queue.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import { loadActions } from './slack/actions.ts';
import { createSlackApp, type SlackApp } from './slack/app.ts';
import { postingClient, type SlackConnection } from './slack/client.ts';
import { connectPatiently } from './slack/connect.ts';
import { loadForms } from './slack/forms.ts';
import type { Messages } from './slack/messages.ts';
import { createSlackSender } from './slack/sender.ts';
import type { explainWith, triageSteps } from './triage-steps.ts';
import { type Closers, wakeOn } from './wakes.ts';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const nowIso = (): string => new Date().toISOString();
const dayMs = 24 * 60 * 60_000;

/** What a process has whatever its role. */
export interface Shared {
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
  clusters: Clusters;
}

/** HTTP, Slack, sending and housekeeping: what only a server process does, and what only it loads. */
export const serve = async (shared: Shared, presentation: Presentation): Promise<string> => {
  const { config, log, records, relay, closers } = shared;
  const onError = (error: unknown): void => log.error(error);
  const command = commandRunner(
    await loadCommands(folder('../handlers/commands')),
    commandDeps({ ...shared, store: records.store, now: nowIso }),
  );
  const slack = await connectSlack(shared, command);
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

  const deps = handlerDeps(shared, command, presentation, slack?.app ?? null, listeners);
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
type CommandRunner = ReturnType<typeof commandRunner>;

const handlerDeps = (
  { explain, config, records, queue, incidents, metrics }: Shared,
  command: CommandRunner,
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
  async incidentCase(incidentId) {
    const record = await records.store.record(incidentId);
    return record && incidentCase(record, await records.store.facts(incidentId));
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
const connectSlack = async (
  { config, log, incidents, messages, directory, records }: Shared,
  command: CommandRunner,
): Promise<{ app: SlackApp; sender: Sender } | null> => {
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
