import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type PgPool,
  runMigrations,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';

/** Where the jobs live: a Redis, or the PostgreSQL of the records. */
export type QueueBackend = { redisUrl: string } | { pool: PgPool };

/** BullMQ's classes for the backend, what to pass them, and how to end the connection. */
export async function connect(backend: QueueBackend, onError: (error: Error) => void) {
  const { factory, connection, disconnect } =
    'pool' in backend ? await onPostgres(backend.pool) : onRedis(backend.redisUrl, onError);
  return { bullmq: withBackend(factory), base: { connection, prefix: 'faultline' }, disconnect };
}

interface Connected {
  factory: BackendFactory<IQueueBackend, any>;
  connection: unknown;
  disconnect: () => void;
}

async function onPostgres(pool: PgPool): Promise<Connected> {
  const client = await pool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
  // The pool belongs to the records.
  return { factory: createPostgresBackend, connection: pool, disconnect: () => {} };
}

function onRedis(url: string, onError: (error: Error) => void): Connected {
  // BullMQ does not recover from a first command that failed, so commands wait until Redis is there.
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on('error', onError);
  return { factory: createRedisBackend, connection: redis, disconnect: () => redis.disconnect() };
}
