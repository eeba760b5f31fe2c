import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** All handlers of a folder: adding one is adding a file. Throws on a file whose default export has another `key` than its name. */
export const loadHandlers = async <T extends object>(folder: string, key: keyof T & string): Promise<T[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const { default: handler } = (await import(pathToFileURL(path).href)) as { default?: T };
      if (handler?.[key] !== basename(file, '.ts'))
        throw new Error(`${path} must export a default handler with ${key} '${basename(file, '.ts')}'`);
      return handler;
    }),
  );
};
