import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderInUse, lockFolder } from '../../src/storage/folder-lock.ts';

const moduleUrl = new URL('../../src/storage/folder-lock.ts', import.meta.url).href;

describe('folder lock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const lockPath = (number = 1) => join(folder, `faultline.lock.${number}`);

  /** Another process that takes the lock and keeps it. */
  const holder = async () => {
    const script = `
      import { lockFolder } from ${JSON.stringify(moduleUrl)};
      await lockFolder(${JSON.stringify(folder)});
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    return child;
  };

  it('refuses a second process with the setting that ends the conflict, and takes over when it was killed', async () => {
    const child = await holder();
    const refused = lockFolder(folder);
    await expect(refused).rejects.toThrow(FolderInUse);
    await expect(refused).rejects.toThrow(`process ${child.pid}`);
    await expect(refused).rejects.toThrow('DATABASE_URL=postgres://');
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const unlock = await lockFolder(folder);
    await unlock();
    expect(await readdir(folder)).toEqual(['faultline.lock.2']);
  });

  it('refuses a second opening within one process', async () => {
    const unlock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
    await unlock();
  });

  const tamper = async (change: Record<string, unknown>) => {
    const unlock = await lockFolder(folder);
    const written = JSON.parse(await readFile(lockPath(), 'utf8'));
    await unlock();
    await writeFile(lockPath(), JSON.stringify({ ...written, ...change }));
  };

  it.each([
    ['was written before a reboot', { bootId: 'another-boot' }],
    ['names a pid that another process has now', { startTicks: '1' }],
    ['names a process that is gone', { pid: 2 ** 22 + 1 }],
  ])('takes over a lock that %s', async (_, change) => {
    await tamper(change);
    await (await lockFolder(folder))();
  });

  it('takes over a lock that holds rubbish', async () => {
    await writeFile(lockPath(), 'x');
    await (await lockFolder(folder))();
  });

  it('trusts a holder in another container as long as it touches the lock', async () => {
    await tamper({ pidNamespace: 'pid:[1]' });
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lockPath(), longAgo, longAgo);
    await (await lockFolder(folder))();
  });

  it('gives a stale lock to exactly one of many, however they meet', async () => {
    await tamper({ bootId: 'another-boot' });
    for (let round = 0; round < 25; round += 1) {
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
      const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
      expect(won).toHaveLength(1);
      await won[0]!.value();
    }
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('never gives out a number that a later lock has passed', async () => {
    await (await lockFolder(folder))();
    const unlock = await lockFolder(folder);
    expect(await readdir(folder)).toEqual(['faultline.lock.2']);
    // As one that looked before the second was taken: the first is gone, and its number is free.
    await writeFile(lockPath(1), 'x');
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
    await unlock();
  });
});
