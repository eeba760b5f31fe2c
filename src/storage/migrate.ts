import { promises as fs } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Kysely } from 'kysely';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import type { Tables } from './tables.ts';

/** Brings the tables to the newest form; each migration is one file of the folder. Processes that start together take turns by an advisory lock. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const provider = new FileMigrationProvider({
    fs,
    path,
    migrationFolder: path.join(import.meta.dirname, 'migrations'),
    import: (file) => import(pathToFileURL(file).href),
  });
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}
