import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { type OpenRecords, openRecords } from '../../src/storage/open-records.ts';
import { hasPostgres, type PostgresService, startPostgres } from '../services/postgres.ts';

export interface Backend {
  name: string;
  open: OpenRecords;
  /** A second connection to the same records, as another server process has it; null where there can be none. */
  openAnother: (() => Promise<OpenRecords>) | null;
}

export const newId = (): string => randomUUID();

const fail = (error: Error) => {
  throw error;
};

/** Runs the suite on the embedded database and on a real server, with empty tables before each test. */
export function describeBackends(title: string, suite: (backend: () => Backend) => void): void {
  describe(`${title} on PGlite`, () => {
    withBackend(async () => {
      const dataFolder = await mkdtemp(join(tmpdir(), 'faultline-data-'));
      const open = await openRecords({ dataFolder, newId, onError: fail });
      return {
        backend: { name: 'PGlite', open, openAnother: null },
        remove: () => rm(dataFolder, { recursive: true }),
      };
    }, suite);
  });
  describe.skipIf(!hasPostgres())(`${title} on PostgreSQL`, () => {
    let service: PostgresService;
    withBackend(async () => {
      service = await startPostgres();
      const databaseUrl = await service.createDatabase();
      const openAnother = () => openRecords({ databaseUrl, dataFolder: '', newId, onError: fail });
      const open = await openAnother();
      return { backend: { name: 'PostgreSQL', open, openAnother }, remove: () => service.remove() };
    }, suite);
  });
}

function withBackend(
  start: () => Promise<{ backend: Backend; remove: () => Promise<void> }>,
  suite: (backend: () => Backend) => void,
): void {
  let started: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    started = await start();
  });
  beforeEach(async () => {
    await started.backend.open.pool.query('truncate incidents, correlation_keys, heartbeats, audit cascade');
  });
  afterAll(async () => {
    await started?.backend.open.close();
    await started?.remove();
  });
  suite(() => started.backend);
}
