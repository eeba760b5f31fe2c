import { access, constants, mkdir } from 'node:fs/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Config } from '../../config/schema.ts';
import type { Check, CheckGroup } from '../../evidence/doctor/check.ts';
import { type PrometheusOptions, prometheusReader } from '../../evidence/prometheus/live.ts';
import { postingClient } from '../../slack/client.ts';

/** Longest wait for a neighbour: doctor is run by a person who waits. */
const timeoutMs = 5_000;

/** Runs one check; a rejection is its failure, with the line that fixes it. */
const attempt = async (name: string, fix: string, work: () => Promise<string>): Promise<Check> => {
  try {
    return { name, status: 'ok', detail: await work() };
  } catch (error) {
    return { name, status: 'failed', detail: (error as Error).message || String(error), fix };
  }
};

export const checkDatabase = async ({ databaseUrl, dataDir }: Config): Promise<CheckGroup> => {
  const check = databaseUrl
    ? await attempt('connection', 'set DATABASE_URL to a PostgreSQL 15 or newer that this machine reaches', () =>
        postgresVersion(databaseUrl.reveal()),
      )
    : await attempt('folder', 'set DATA_DIR to a folder this user may write, or DATABASE_URL', async () => {
        await mkdir(dataDir, { recursive: true });
        await access(dataDir, constants.W_OK);
        return `embedded database in ${dataDir}`;
      });
  return { title: 'database', checks: [check] };
};

const postgresVersion = async (connectionString: string): Promise<string> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: timeoutMs });
  await client.connect();
  try {
    const { rows } = await client.query('show server_version_num');
    const version = Math.floor(Number(rows[0].server_version_num) / 10_000);
    if (version < 15) throw new Error(`PostgreSQL ${version} is too old`);
    return `PostgreSQL ${version}`;
  } finally {
    await client.end();
  }
};

export const checkQueue = async ({ redisUrl }: Config): Promise<CheckGroup> => {
  if (!redisUrl)
    return {
      title: 'queue',
      checks: [{ name: 'backend', status: 'ok', detail: 'in the database; set REDIS_URL for a worker fleet' }],
    };
  const check = await attempt('connection', 'set REDIS_URL to a Redis that this machine reaches', async () => {
    const redis = new Redis(redisUrl.reveal(), {
      lazyConnect: true,
      connectTimeout: timeoutMs,
      retryStrategy: () => null,
    });
    redis.on('error', () => {});
    try {
      await redis.connect();
      const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
      if (policy && policy !== 'noeviction')
        throw new Error(`maxmemory-policy is ${policy}, so Redis may drop jobs: set it to noeviction`);
      return 'Redis answers';
    } finally {
      redis.disconnect();
    }
  });
  return { title: 'queue', checks: [check] };
};

export const checkSlack = async ({ slack }: Config): Promise<CheckGroup> => {
  const title = 'Slack';
  if (!slack.botToken)
    return {
      title,
      checks: [
        { name: 'token', status: 'skipped', detail: 'SLACK_BOT_TOKEN is unset: threads are on the local console' },
      ],
    };
  const { botToken, apiUrl } = slack;
  const client = postingClient({ botToken: botToken.reveal(), apiUrl, log: silent, timeoutMs });
  const token = await attempt(
    'token',
    'install the app again and set SLACK_BOT_TOKEN to its bot token (xoxb-…)',
    async () => {
      const answer = await client.auth.test();
      return `${answer.user} in ${answer.team}`;
    },
  );
  return { title, checks: [token, await checkWayIn(slack)] };
};

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** How clicks and commands reach us. Opening a connection and not using it takes nothing from the running service. */
const checkWayIn = async ({ appToken, apiUrl }: Config['slack']): Promise<Check> =>
  appToken
    ? attempt(
        'Socket Mode',
        'set SLACK_APP_TOKEN to an app-level token (xapp-…) of this app with connections:write, and turn Socket Mode on',
        async () => {
          const client = postingClient({ botToken: appToken.reveal(), apiUrl, log: silent, timeoutMs });
          await client.apps.connections.open();
          return 'SLACK_APP_TOKEN opens a connection';
        },
      )
    : // The configuration has one of the two.
      {
        name: 'requests over HTTP',
        status: 'ok',
        detail: 'SLACK_SIGNING_SECRET is set; point the request URL of the app at /slack/events',
      };

export const checkWebhooks = ({ webhooks }: Config): CheckGroup => ({
  title: 'webhooks',
  checks: [
    webhooks.alertmanagerToken || webhooks.tokens.length > 0
      ? {
          name: 'token',
          status: 'ok',
          detail: `${webhooks.tokens.length + (webhooks.alertmanagerToken ? 1 : 0)} configured`,
        }
      : {
          name: 'token',
          status: 'failed',
          detail: 'no webhook token: every alert is refused',
          fix: 'set ALERTMANAGER_WEBHOOK_TOKEN, and the same value in the Alertmanager receiver',
        },
  ],
});

export const checkPrometheus = async (options: PrometheusOptions): Promise<CheckGroup> => {
  const end = Math.floor(Date.now() / 1000);
  const check = await attempt(
    'query',
    'set PROMETHEUS_URL to the address under which /api/v1/query_range answers',
    async () => {
      const read = await prometheusReader({ ...options, timeoutMs }).series({
        name: 'up',
        start: end - 300,
        end,
        stepSeconds: 60,
      });
      if (!read.ok) throw new Error(read.gap.message);
      return `${read.value.length} series of up`;
    },
  );
  return { title: `Prometheus ${options.url}`, checks: [check] };
};
