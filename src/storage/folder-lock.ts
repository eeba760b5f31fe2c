import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The embedded database belongs to one process: a second one on the same folder would silently destroy rows. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** Who holds the folder. A pid alone is reused: after a reboot, by another process, in every container. */
interface Holder {
  pid: number;
  bootId: string;
  pidNamespace: string;
  startTicks: string;
}

const touchEveryMs = 5_000;
/** A holder in another pid namespace cannot be looked up: it lives as long as it touches the lock. */
const silentAfterMs = 20_000;

/**
 * Takes the folder for this process. Locks are numbered and a number is never used twice while a later one exists: the
 * highest is the folder's, and a stale one is passed over by taking the next. Nothing that another process may hold is
 * ever moved or removed, so of many that find a stale lock exactly one gets the folder.
 * @throws FolderInUse when another live process has it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const mine = JSON.stringify(await describeSelf());
  const draft = join(folder, `faultline.lock-${randomUUID()}`);
  await writeFile(draft, mine);
  const taken = await takeNext(folder, draft).finally(() => rm(draft, { force: true }));
  const path = pathOf(folder, taken);
  const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), touchEveryMs);
  touch.unref();
  return async () => {
    clearInterval(touch);
    // It stays, as nobody's: the next one has to take a higher number.
    if ((await content(path)) === mine) await writeFile(path, released);
  };
}

/** What a lock holds after its holder gave it back. */
const released = 'released';

const pathOf = (folder: string, number: number): string => join(folder, `faultline.lock.${number}`);

async function takeNext(folder: string, draft: string): Promise<number> {
  for (;;) {
    const last = (await lockNumbers(folder)).at(-1) ?? 0;
    await refuseLive(folder, last);
    const next = last + 1;
    // link() creates the lock with its content in one step, and fails if there is one.
    if (!(await created(link(draft, pathOf(folder, next))))) continue;
    const numbers = await lockNumbers(folder);
    // The number was free because a later lock had its forerunners removed.
    if (numbers.at(-1) !== next) {
      await rm(pathOf(folder, next), { force: true });
      continue;
    }
    for (const number of numbers.filter((former) => former < next)) await rm(pathOf(folder, number), { force: true });
    return next;
  }
}

const lockNumbers = async (folder: string): Promise<number[]> =>
  (await readdir(folder))
    .map((name) => /^faultline\.lock\.(\d+)$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);

async function refuseLive(folder: string, number: number): Promise<void> {
  const path = pathOf(folder, number);
  const holder = parse((await content(path)) ?? '');
  if (holder && (await isAlive(holder, path))) throw inUse(folder, holder);
}

async function isAlive(holder: Holder, path: string): Promise<boolean> {
  const self = await describeSelf();
  if (holder.bootId !== self.bootId) return false;
  if (holder.pidNamespace !== self.pidNamespace) {
    const touchedAt = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    return Date.now() - touchedAt < silentAfterMs;
  }
  if (!processExists(holder.pid)) return false;
  return holder.startTicks === '' || holder.startTicks === (await startTicks(holder.pid));
}

const processExists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Where there is no /proc, pid alone has to do. */
const describeSelf = async (): Promise<Holder> => ({
  pid: process.pid,
  bootId: (await content('/proc/sys/kernel/random/boot_id'))?.trim() ?? '',
  pidNamespace: await readlink('/proc/self/ns/pid').catch(() => ''),
  startTicks: await startTicks(process.pid),
});

/** Field 22 of /proc/<pid>/stat, counted after the command name, which may hold spaces and brackets. */
const startTicks = async (pid: number): Promise<string> => {
  const line = await content(`/proc/${pid}/stat`);
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

const content = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

const parse = (text: string): Holder | null => {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
};

const created = (attempt: Promise<void>): Promise<boolean> =>
  attempt.then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );

const inUse = (folder: string, holder: Holder): FolderInUse =>
  new FolderInUse(
    `The embedded database in ${folder} is in use by process ${holder.pid}, and only one process at a time may use it. ` +
      'Stop that process, or set DATABASE_URL=postgres://user:password@host:5432/faultline to share a PostgreSQL.',
  );
