import { join } from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Records } from '../incidents/ports.ts';
import { atomic } from './atomic.ts';
import { translate, translated } from './availability.ts';
import { listenForChanges } from './changes.ts';
import { EmbeddedPool } from './embedded-pool.ts';
import { lockFolder } from './folder-lock.ts';
import { PostgresIncidentStore } from './incident-store.ts';
import { migrate } from './migrate.ts';
import { PostgresOutbox } from './outbox.ts';
import type { SqlPool } from './sql-pool.ts';
import type { Tables } from './tables.ts';

export interface RecordsOptions {
  /** A PostgreSQL of version 15 or newer; absent: the embedded one. */
  databaseUrl?: string | undefined;
  /** Folder of the embedded database. Ignored with `databaseUrl`. */
  dataFolder: string;
  newId: () => string;
  /** A connection that was lost while idle, and the like: worth a line in the log, nothing to do. */
  onError: (error: Error) => void;
}

export interface OpenRecords {
  records: Records;
  /** For the queue, where it lives in the same database. */
  pool: SqlPool;
  /** Ends the connections; for the embedded database also the hold on its folder. */
  close(): Promise<void>;
}

/**
 * Opens the records and brings their tables up to date.
 * @throws StorageUnavailable when the database cannot be reached; FolderInUse when another process has the folder.
 */
export async function openRecords(options: RecordsOptions): Promise<OpenRecords> {
  const { pool, release }: { pool: SqlPool; release: () => Promise<void> } = options.databaseUrl
    ? openServer(options.databaseUrl, options.onError)
    : await openEmbedded(options.dataFolder);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: translated(pool) }) });
  const close = async () => {
    await db.destroy();
    await release();
  };
  try {
    await migrate(db);
  } catch (error) {
    await close().catch(() => {});
    throw translate(error);
  }
  return { records: recordsOn(db, pool, options.newId), pool, close };
}

function recordsOn(db: Kysely<Tables>, pool: SqlPool, newId: () => string): Records {
  const storesOn = (on: Kysely<Tables>) => ({
    store: new PostgresIncidentStore(on, newId),
    outbox: new PostgresOutbox(on),
  });
  return {
    ...storesOn(db),
    transaction: (work) => atomic(db, (transaction) => work(storesOn(transaction))),
    listen: (onChange) => listenForChanges(() => pool.connect(), onChange),
  };
}

/** Two LISTEN connections of the queue, one of the records, and room for work. */
const maxConnections = 20;

/** On the session, since poolers refuse startup options. The queue's tables follow ours, and no name is in both. */
const sessionSetup = `
  set search_path to public, bullmq;
  set statement_timeout to '30s';
  set idle_in_transaction_session_timeout to '60s'`;

function openServer(connectionString: string, onError: (error: Error) => void) {
  const pool = new pg.Pool({
    connectionString,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    onConnect: async (client) => {
      // The pool listens only while a client is idle. Lost between two statements, it fails the next one, not the process.
      client.on('error', () => {});
      await client.query(sessionSetup);
    },
  });
  // Each of the queue's connections adds a listener.
  pool.setMaxListeners(0);
  pool.on('error', onError);
  return { pool, release: async () => {} };
}

async function openEmbedded(dataFolder: string) {
  const unlock = await lockFolder(dataFolder);
  try {
    const pool = await EmbeddedPool.open(join(dataFolder, 'postgres'));
    await pool.query('set search_path to public, bullmq');
    return { pool, release: unlock };
  } catch (error) {
    await unlock();
    throw error;
  }
}
