import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecords } from '../../src/storage/open-records.ts';
import { SlackDouble } from '../fakes/slack/server.ts';
import { makeSecrets, type Planted } from '../redaction/planted-secrets.ts';
import { Faultline } from './faultline.ts';
import { embedded, type Install } from './installs.ts';
import { caseFolder, clusterOf, messages, patienceMs, settings, verdictPosted } from './workspace.ts';

const secrets = makeSecrets(314);
/** Stand beside the secrets, so that a place which was not read is noticed. */
const markers = ['marker-env', 'marker-annotation', 'marker-status', 'marker-event', 'marker-log', 'marker-alert'];
const cluster = 'planted';

const editJson = async (file: string, edit: (value: any) => void): Promise<string> => {
  const value = JSON.parse(await readFile(file, 'utf8'));
  edit(value);
  const text = JSON.stringify(value);
  await writeFile(file, text);
  return text;
};

const lines = (marker: string): string => [marker, ...secrets.map(({ line }) => line)].join('\n');

/** Puts every secret wherever a person or a program puts one by mistake; answers the webhook body. */
const plant = async (folder: string): Promise<string> => {
  const pod = 'catalog-api-rc5wbnkhc-n4t24';
  await editJson(join(folder, 'cluster/pods.json'), ({ items }) => {
    for (const { metadata, spec, status } of items.filter((item: any) =>
      item.metadata.name.startsWith('catalog-api-'),
    )) {
      metadata.annotations = { ...metadata.annotations, 'example.com/notes': lines('marker-annotation') };
      const [container] = spec.containers;
      container.env = [
        ...(container.env ?? []),
        { name: 'NOTE', value: 'marker-env' },
        ...secrets.map(({ line }, i) => ({ name: `SETTING_${i}`, value: line })),
        ...secrets.map(({ secret }, i) => ({ name: `SERVICE_${i}_PASSWORD`, value: secret })),
      ];
      container.args = [...(container.args ?? []), ...secrets.flatMap(({ secret }) => ['--admin-password', secret])];
      const [running] = status.containerStatuses;
      running.lastState = { terminated: { ...running.lastState?.terminated, message: lines('marker-status') } };
    }
  });
  await editJson(join(folder, 'cluster/events.json'), ({ items }) => {
    const about = items.find((item: any) => item.involvedObject.name === pod);
    const messages = ['marker-event', ...secrets.map(({ line }) => line)];
    for (const [i, message] of messages.entries()) {
      const metadata = { ...about.metadata, name: `${pod}.${i}`, uid: `00000000-0000-4000-8000-${i}` };
      items.push({ ...about, metadata, reason: 'BackOff', type: 'Warning', message });
    }
  });
  const log = join(folder, 'logs/catalog', pod, 'api.previous.log');
  await writeFile(log, `${await readFile(log, 'utf8')}${lines('marker-log')}\n`);
  return editJson(join(folder, 'alert.json'), ({ alerts }) => {
    const [alert] = alerts;
    alert.labels.cluster = cluster;
    for (const [i, { line }] of secrets.entries()) alert.labels[`note_${i}`] = line;
    alert.annotations.description = lines('marker-alert');
    alert.annotations.runbook_url = 'https://admin:Xk7Qp2vLw9Zt@runbooks.example.com/restarts';
    alerts.push({
      ...alert,
      startsAt: secrets[0]?.secret,
      labels: { alertname: 'Malformed', broken: [secrets[1]?.line] },
    });
  });
};

/** Neither whole nor by its tail, plain or inside JSON; secrets of several lines are looked for in each of them. */
const leaks = (text: string): string[] =>
  secrets.filter(({ secret }) => forms(secret).some((form) => text.includes(form))).map(kindAndLine);

const kindAndLine = ({ kind, line }: Planted): string => `${kind}: ${line}`;

const forms = (secret: string): string[] =>
  [secret, secret.slice(-12)].flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);

describe('planted secrets', () => {
  let folder: string;
  let install: Install;
  let slack: SlackDouble;
  const found: Record<string, string> = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-planted-'));
    await cp(caseFolder('catalog-api-restarts-every-hour'), folder, { recursive: true });
    const body = await plant(folder);
    install = await embedded();
    slack = await SlackDouble.start();
    const clusters = [clusterOf(cluster, { snapshot: folder })];
    const server = await Faultline.start({
      env: { ...settings(slack, clusters), ...install.env, LOG_LEVEL: 'debug' },
    });
    expect(await server.post(body)).toBe(200);
    expect(await server.post(`{"version": "4", "alerts": ${JSON.stringify(lines('broken'))}}`)).toBe(400);
    await verdictPosted(slack, cluster, server);
    const page = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();
    const incidentId = /\/incidents\/([\w-]+)/.exec(await page('/'))?.[1];
    found.pages = (
      await Promise.all(['/', '/incidents', `/incidents/${incidentId}`, `/incidents/${incidentId}/thread`].map(page))
    ).join('\n');
    await server.stop();
    found.log = server.output;
    found.slack = JSON.stringify(slack.workspace.calls.map(({ fields }) => fields));
    found.database = await contentOfDatabase(install.env.DATA_DIR!);
  }, patienceMs);
  afterAll(async () => {
    await slack?.stop();
    await install?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('are at least 100 of 25 kinds, and the search finds them all where they were put', async () => {
    expect(secrets.length).toBeGreaterThanOrEqual(100);
    expect(new Set(secrets.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(25);
    for (const place of ['cluster/pods.json', 'cluster/events.json', 'alert.json'])
      expect(leaks(await readFile(join(folder, place), 'utf8')), place).toHaveLength(secrets.length);
  });

  it('stood in places that were read and kept', () => {
    expect(markers.filter((marker) => !found.database?.includes(marker))).toEqual([]);
    expect(messages(slack, cluster).map((message) => message.metadata?.event_payload.slot)).toContain('escalation');
    expect(found.pages).toContain('catalog-api');
    expect(found.log).toContain('"msg":"verdict"');
  });

  it.each(['database', 'slack', 'pages', 'log'])('are not in the %s', (place) => {
    expect(leaks(found[place]!)).toEqual([]);
    expect(found[place]).not.toContain('Xk7Qp2vLw9Zt');
  });
});

/** Every row of every table, the queue's included, and the facts as they were before they were packed. */
const contentOfDatabase = async (dataFolder: string): Promise<string> => {
  const { records, pool, close } = await openRecords({ dataFolder, newId: () => '', onError: () => {} });
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema in ('public', 'bullmq') and table_type = 'BASE TABLE'`,
  );
  const content: unknown[] = [];
  for (const { name } of tables) content.push(name, (await pool.query(`select * from ${name}`)).rows);
  for (const { id } of await records.store.list(10)) content.push(await records.store.facts(id));
  await close();
  return JSON.stringify(content);
};
