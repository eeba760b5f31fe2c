import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { requireService } from './require-service.ts';

const run = promisify(execFile);

/** Debian keeps each version's programs in a folder of its own. */
const versions = '/usr/lib/postgresql';
const newest = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0] : undefined;
const binaries = join(versions, newest ?? 'none', 'bin');

export const hasPostgres = (): boolean =>
  requireService('PostgreSQL', existsSync(join(binaries, 'initdb')), 'apt-get install postgresql');

export interface PostgresService {
  /** Address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Stops the server as a crash would, or starts it again; the data stays. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and deletes its data. */
  remove(): Promise<void>;
}

/** A server of its own in a temporary folder, on loopback, without fsync. */
export async function startPostgres(): Promise<PostgresService> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-postgres-'));
  await chmod(folder, 0o777);
  const data = join(folder, 'data');
  const port = await freePort();
  const urlOf = (database: string) => `postgres://faultline@127.0.0.1:${port}/${database}`;
  const start = async () => {
    const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
    await asPostgres(join(binaries, 'pg_ctl'), ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start']);
  };
  const stop = async () => {
    await asPostgres(join(binaries, 'pg_ctl'), ['-D', data, '-w', '-m', 'immediate', 'stop']);
  };
  await asPostgres(join(binaries, 'initdb'), ['-D', data, '-U', 'faultline', '-A', 'trust', '-E', 'UTF8', '-N']);
  await start();
  return {
    start,
    stop,
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      const client = new pg.Client({ connectionString: urlOf('postgres') });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return urlOf(name);
    },
    async remove() {
      await stop().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
const asPostgres = (program: string, args: string[]) =>
  process.getuid?.() === 0
    ? run('runuser', ['-u', 'postgres', '--', program, ...args], { cwd: '/' })
    : run(program, args);
