import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { SnapshotError } from '../kubernetes/snapshot-error.ts';

/** Refuses a folder that holds something: no incident is written over another. Throws SnapshotError. */
export const refuseUsedFolder = async (dir: string): Promise<void> => {
  const present = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new SnapshotError(dir, `cannot be written as a folder (${error.code})`);
  });
  if (present.length > 0) throw new SnapshotError(dir, 'is not empty: choose a new folder with --out');
};

/** Names of files hold names of objects, or come from a server: one of `..` would leave the folder. */
const staysBelow = (name: string): boolean => {
  const path = normalize(name);
  return path !== '.' && path !== '..' && !path.startsWith(`..${sep}`) && !path.endsWith(sep);
};

/** Writes files by their path below a new or empty folder, for its owner's eyes. Throws SnapshotError. */
export const writeFolder = async (dir: string, files: Map<string, string>): Promise<void> => {
  await refuseUsedFolder(dir);
  const stray = [...files.keys()].find((name) => !staysBelow(name));
  if (stray !== undefined)
    throw new SnapshotError(dir, `is not written: ${JSON.stringify(stray)} names a file outside the folder`);
  try {
    for (const [name, content] of files) {
      const path = join(dir, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    }
  } catch (error) {
    throw new SnapshotError(dir, `cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
};
