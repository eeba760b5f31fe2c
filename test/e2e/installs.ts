import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasPostgres, type PostgresService, startPostgres } from '../services/postgres.ts';
import { hasRedis, type RedisService, startRedis } from '../services/redis.ts';

/** Where an install keeps its records and jobs, as settings of its environment. */
export interface Install {
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** The embedded database, in a folder of its own. */
export const embedded = async (): Promise<Install> => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-install-'));
  return { env: { DATA_DIR: folder }, remove: () => rm(folder, { recursive: true, force: true }) };
};

export interface Servers extends Install {
  postgres: PostgresService;
  redis: RedisService;
}

const hasServers = (): boolean => [hasPostgres(), hasRedis()].every(Boolean);

/** A PostgreSQL and a Redis of its own. */
const servers = async (): Promise<Servers> => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  return {
    postgres,
    redis,
    env: { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url },
    async remove() {
      await Promise.all([postgres.remove(), redis.remove()]);
    },
  };
};

/** Runs the suite on one install, made before its first test. */
const withInstall = <T extends Install>(create: () => Promise<T>, suite: (install: () => T) => void): void => {
  let install: T;
  beforeAll(async () => {
    install = await create();
  });
  afterAll(() => install?.remove());
  suite(() => install);
};

export const describeServers = (title: string, suite: (install: () => Servers) => void): void => {
  describe.skipIf(!hasServers())(`${title} on PostgreSQL and Redis`, () => withInstall(servers, suite));
};

export const describeEmbedded = (title: string, suite: (install: () => Install) => void): void => {
  describe(`${title} on the embedded database`, () => withInstall(embedded, suite));
};
