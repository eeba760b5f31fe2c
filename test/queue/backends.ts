import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { QueueOptions } from '../../src/queue/triage-queue.ts';
import { openRecords } from '../../src/storage/open-records.ts';
import { hasPostgres, startPostgres } from '../services/postgres.ts';
import { hasRedis, type RedisService, startRedis } from '../services/redis.ts';
import { newId } from '../storage/backends.ts';

export interface QueuePlace {
  /** Opens what the queue needs, as each process of an install does. */
  open(): Promise<{ backend: QueueOptions['backend']; close(): Promise<void> }>;
  /** For another process: what `open` is made from. */
  settings: { databaseUrl?: string; dataFolder?: string; redisUrl?: string };
  redis: RedisService | null;
  remove(): Promise<void>;
}

async function onPglite(): Promise<QueuePlace> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'faultline-queue-'));
  return {
    open: () => openPlace({ dataFolder }),
    settings: { dataFolder },
    redis: null,
    remove: () => rm(dataFolder, { recursive: true }),
  };
}

async function onPostgres(): Promise<QueuePlace> {
  const service = await startPostgres();
  const databaseUrl = await service.createDatabase();
  return { open: () => openPlace({ databaseUrl }), settings: { databaseUrl }, redis: null, remove: service.remove };
}

async function onRedis(): Promise<QueuePlace> {
  const redis = await startRedis();
  const settings = { redisUrl: redis.url };
  return { open: () => openPlace(settings), settings, redis, remove: redis.remove };
}

export async function openPlace({ databaseUrl, dataFolder = '', redisUrl }: QueuePlace['settings']) {
  if (redisUrl) return { backend: { redisUrl }, close: async () => {} };
  const { pool, close } = await openRecords({ databaseUrl, dataFolder, newId, onError: () => {} });
  return { backend: { pool }, close };
}

/** Runs the suite on every backend that jobs can live in. */
export function describeQueues(title: string, suite: (place: () => QueuePlace) => void): void {
  const places = [
    { name: 'PGlite', start: onPglite, present: true },
    { name: 'PostgreSQL', start: onPostgres, present: hasPostgres() },
    { name: 'Redis', start: onRedis, present: hasRedis() },
  ];
  for (const { name, start, present } of places) {
    describe.skipIf(!present)(`${title} on ${name}`, () => {
      let place: QueuePlace;
      beforeAll(async () => {
        place = await start();
      });
      afterAll(() => place?.remove());
      suite(() => place);
    });
  }
}
