import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { IncidentRecord } from '../../domain/view.ts';
import { scoreCase } from '../../eval/score.ts';
import { createLog } from '../../log.ts';
import type { Running } from '../../main.ts';
import { emptyDirectory } from '../../routing/directory.ts';
import { type DemoIncident, demoIncidents } from '../demo/incidents.ts';
import { progressDisplay } from '../demo/progress.ts';
import { type DemoResult, demoTable } from '../demo/table.ts';
import { OperatorError } from '../operator-error.ts';
import { startupError, untilSignal } from '../run-until-signal.ts';

export default (program: Command): void => {
  program
    .command('demo')
    .description('Eight incidents through the whole service, on embedded defaults in a throwaway folder')
    .option('--once', 'exit when every verdict is there: 0 if each is the right answer')
    .option('--port <port>', 'port of the console', '3000')
    .action(run);
};

/** Eight triages take seconds; whoever waits this long waits for something broken. */
const patienceMs = 120_000;

interface Tracked extends DemoIncident {
  incidentId: string;
  postedAtMs: number;
  firstEvidenceMs: number | null;
  verdictMs: number | null;
  record: IncidentRecord | null;
}

const run = async (options: { once?: boolean; port: string }): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-demo-'));
  const log = createLog('error');
  try {
    const incidents = await demoIncidents();
    const token = randomBytes(16).toString('hex');
    const config = demoConfig(incidents, folder, token, options.once ? '0' : options.port);
    process.stdout.write('Starting on embedded defaults: no Slack, no cluster, no Redis, no cloud account.\n');
    const { start } = await import('../../main.ts');
    const running = await start(config, emptyDirectory, log, 'serve').catch((error) => {
      throw startupError(error);
    });
    const results = await play(running, incidents, token);
    process.stdout.write(`\n${demoTable(results, process.stdout.columns ?? 160)}\n`);
    if (options.once) {
      await running.stop();
      if (!results.every((result) => result.right)) process.exitCode = 1;
      return;
    }
    process.stdout.write(`\nRead the threads at ${running.url}/ – Ctrl-C ends the demo and removes its data.\n`);
    await untilSignal(running, log);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const demoConfig = (incidents: DemoIncident[], folder: string, token: string, port: string): Config => {
  const clusters = incidents.map(({ cluster, dir }) => ({ name: cluster, snapshot: dir }));
  const loaded = loadConfig({
    PORT: port,
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    ALERTMANAGER_WEBHOOK_TOKEN: token,
    FAULTLINE_CLUSTERS: JSON.stringify(clusters),
  });
  if (!loaded.ok) throw new OperatorError(`--port ${port} is not a port: give a number from 0 to 65535`);
  return loaded.config;
};

/** Posts all incidents and follows them until each has its verdict. */
const play = async (running: Running, incidents: DemoIncident[], token: string): Promise<DemoResult[]> => {
  const display = progressDisplay(process.stdout);
  const tracked = await Promise.all(incidents.map((incident) => post(running, incident, token)));
  const look = async (): Promise<boolean> => {
    await Promise.all(tracked.map((incident) => update(running, incident)));
    display(
      tracked.map(({ id, record }) => ({
        name: id,
        incident: record?.incident ?? null,
        verdict: record?.verdict ? headline(record) : null,
      })),
    );
    return tracked.every((incident) => incident.verdictMs !== null);
  };
  await until(running, look);
  return tracked.map(resultOf);
};

const post = async (running: Running, incident: DemoIncident, token: string): Promise<Tracked> => {
  const postedAtMs = performance.now();
  const response = await fetch(`${running.url}/webhooks/alertmanager`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: incident.body,
  });
  const answer = (await response.json()) as { incidents?: { incidentId: string }[] };
  const incidentId = answer.incidents?.[0]?.incidentId;
  if (!response.ok || !incidentId)
    throw new Error(`${incident.id} was not accepted: HTTP ${response.status} ${JSON.stringify(answer)}`);
  return { ...incident, incidentId, postedAtMs, firstEvidenceMs: null, verdictMs: null, record: null };
};

const update = async (running: Running, incident: Tracked): Promise<void> => {
  if (incident.verdictMs !== null) return;
  incident.record = await running.records.store.record(incident.incidentId);
  const elapsedMs = performance.now() - incident.postedAtMs;
  if (incident.firstEvidenceMs === null && Object.keys(incident.record?.readings ?? {}).length > 0)
    incident.firstEvidenceMs = elapsedMs;
  if (incident.record?.verdict) incident.verdictMs = elapsedMs;
};

/** Looks on every change until `done`, or until patience ends. */
const until = async (running: Running, done: () => Promise<boolean>): Promise<void> => {
  let wake = (): void => {};
  const unlisten = await running.records.listen(() => wake());
  const deadline = performance.now() + patienceMs;
  while (!(await done()) && performance.now() < deadline) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 500);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  await unlisten();
};

const headline = ({ verdict }: IncidentRecord): string =>
  verdict ? (verdict.state === 'fault' ? `→ ${verdict.owner} (${verdict.confidence})` : `→ ${verdict.state}`) : '';

const resultOf = ({ id, record, expected, firstEvidenceMs, verdictMs }: Tracked): DemoResult => {
  const verdict = record?.verdict;
  return {
    incident: id,
    owner: verdict ? (verdict.state === 'fault' ? verdict.owner : verdict.state) : 'no verdict',
    confidence: verdict?.confidence ?? '',
    cause: verdict?.cause.en ?? '',
    firstEvidenceMs,
    verdictMs,
    right: verdict ? scoreCase(id, verdict, expected).result === 'right' : false,
  };
};
