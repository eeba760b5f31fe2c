import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedPool } from '../../src/storage/embedded-pool.ts';

describe('embedded pool', () => {
  let pool: EmbeddedPool;
  beforeAll(async () => {
    pool = await EmbeddedPool.open(undefined);
    await pool.query('create table t (n int)');
  });
  afterAll(() => pool.end());
  const rows = async () => (await pool.query<{ n: number }>('select n from t order by n')).rows.map((row) => row.n);

  it('keeps the session for one client from BEGIN to COMMIT', async () => {
    const client = await pool.connect();
    await client.query('-- name: begin\n/* note */ BEGIN');
    const outside = rows();
    await client.query('insert into t values ($1)', [1]);
    await client.query('savepoint s');
    await client.query('insert into t values (2)');
    await client.query('rollback to s');
    await client.query('commit');
    client.release();
    expect(await outside).toEqual([1]);
    await pool.query('truncate t');
  });

  it('rolls back a transaction that its client leaves open', async () => {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('insert into t values (1)');
    client.release();
    expect(await rows()).toEqual([]);
  });

  it('says what became of a COMMIT after an error, with the SQLSTATE of the error', async () => {
    const client = await pool.connect();
    await client.query('begin');
    await expect(client.query('select * from nowhere')).rejects.toMatchObject({ code: '42P01' });
    expect(await client.query('commit')).toMatchObject({ command: 'ROLLBACK' });
    client.release();
  });

  it('hands notifications to the clients that listen, and to no other', async () => {
    const [one, two] = [await pool.connect(), await pool.connect()];
    const heard: string[] = [];
    one.on('notification', (message) => heard.push(`one ${message.channel} ${message.payload}`));
    two.on('notification', () => heard.push('two'));
    await one.query('-- BullMQ writes a comment first\nLISTEN "jobs"');
    await pool.query(`select pg_notify('jobs', 'a')`);
    await one.query('UNLISTEN jobs');
    await pool.query(`select pg_notify('jobs', 'b')`);
    expect(heard).toEqual(['one jobs a']);
  });

  it('runs several statements of one text', async () => {
    const { rows: answer } = await pool.query('select 1 as a; select 2 as a');
    expect(answer).toEqual([{ a: 2 }]);
  });
});
