import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../src/incidents/ports.ts';
import { openRecords } from '../../src/storage/open-records.ts';
import { alert, minute, notification } from '../incidents/samples.ts';
import { eventually } from '../services/eventually.ts';
import { freePort } from '../services/free-port.ts';
import { hasPostgres, type PostgresService, startPostgres } from '../services/postgres.ts';
import { newId } from './backends.ts';

const openOn = (databaseUrl: string, onError = (_: Error) => {}) =>
  openRecords({ databaseUrl, dataFolder: '', newId, onError });

describe('opening the embedded database', () => {
  it('keeps what was committed when the process is killed, and refuses a second one before that', async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'faultline-data-'));
    const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { openRecords } from ${url('../../src/storage/open-records.ts')};
      import { alert, minute, notification } from ${url('../incidents/samples.ts')};
      const options = { dataFolder: ${JSON.stringify(dataFolder)}, newId: () => 'inc-1', onError() {} };
      const { records } = await openRecords(options);
      await records.store.recordNotification(notification(minute(0), [alert()]));
      console.log('committed');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    const options = { dataFolder, newId, onError: () => {} };
    await expect(openRecords(options)).rejects.toThrow(/in use by process .*DATABASE_URL/);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const reopened = await openRecords(options);
    expect((await reopened.records.store.list(10)).map((incident) => incident.id)).toEqual(['inc-1']);
    await reopened.close();
    await rm(dataFolder, { recursive: true });
  });
});

describe.skipIf(!hasPostgres())('opening a PostgreSQL', () => {
  let service: PostgresService;
  beforeAll(async () => {
    service = await startPostgres();
  });
  afterAll(() => service.remove());

  it('brings the tables up once when several processes start together, none with a name of the queue', async () => {
    const databaseUrl = await service.createDatabase();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openOn(databaseUrl)));
    const { rows } = await opened[0]!.pool.query<{ tablename: string }>(
      `select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1`,
    );
    expect(rows.map((row) => row.tablename)).toEqual([
      'alerts',
      'audit',
      'correlation_keys',
      'facts',
      'heartbeats',
      'incidents',
      'outbox',
      'readings',
      'silences',
      'verdicts',
    ]);
    await Promise.all(opened.map((one) => one.close()));
  });

  it('says StorageUnavailable while the server is away, and works again afterwards, listening included', async () => {
    const { records, close } = await openOn(await service.createDatabase());
    let heard = Promise.withResolvers<string>();
    const stop = await records.listen(({ incidentId }) => heard.resolve(incidentId));
    await service.stop();
    const attempt = records.store.recordNotification(notification(minute(0), [alert()]));
    await expect(attempt).rejects.toThrow(StorageUnavailable);
    await expect(records.store.list(1)).rejects.toThrow(/cannot be used for now.*DATABASE_URL/);
    await expect(records.transaction(({ store }) => store.dueRuns(1))).rejects.toThrow(StorageUnavailable);
    await service.start();
    const [outcome] = await records.store.recordNotification(notification(minute(0), [alert()]));
    await eventually(async () => {
      heard = Promise.withResolvers();
      await records.outbox.plan(outcome!.incidentId, 'C1', [{ slot: 'root', text: newId(), blocks: [] }]);
      return Promise.race([heard.promise, new Promise((resolve) => setTimeout(resolve, 200, 'nothing'))]);
    }).toBe(outcome!.incidentId);
    await stop();
    await close();
  });

  it('says StorageUnavailable when the connection is lost between two statements of a transaction', async () => {
    const { records, pool, close } = await openOn(await service.createDatabase());
    const work = records.transaction(async ({ store }) => {
      await store.list(1);
      await service.stop();
      await service.start();
      await store.list(1);
    });
    await expect(work).rejects.toThrow(StorageUnavailable);
    expect((await pool.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await close();
  });

  it('says StorageUnavailable where no server answers', async () => {
    const opening = openOn(`postgres://faultline@127.0.0.1:${await freePort()}/faultline`);
    await expect(opening).rejects.toThrow(StorageUnavailable);
  });
});
