import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { SnapshotError } from './snapshot-error.ts';

/** Files of an incident folder's root that are no Kubernetes objects. */
const reserved = new Set(['case.json', 'alert.json', 'aws.json', 'cloudwatch.json']);

/** Node.js cannot hold a longer string than about 512 MiB; no API object list of use is near it. */
const maxFileBytes = 256 * 1024 * 1024;

/** Problems of one file that are listed. */
const maxProblems = 20;

export interface SnapshotFiles {
  /** Absolute paths of the files that hold objects. */
  objects: string[];
  /** Every file by its path in the folder, with `/` as separator: where logs are found. */
  all: Map<string, string>;
}

/** All files below a folder, sorted by path. Links are not followed: a snapshot speaks of itself alone. */
export async function listSnapshotFiles(dir: string): Promise<SnapshotFiles> {
  let entries: Awaited<ReturnType<typeof readFolder>>;
  try {
    entries = await readFolder(dir);
  } catch (error) {
    throw new SnapshotError(dir, `cannot be read as a folder (${(error as NodeJS.ErrnoException).code})`);
  }
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const all = new Map(paths.map((path) => [relative(dir, path).split(sep).join('/'), path]));
  const isCase = all.has('case.json');
  const objects = [...all]
    .filter(
      ([name]) => /\.(json|ya?ml)$/i.test(name) && !reserved.has(name) && (!isCase || name.startsWith('cluster/')),
    )
    .map(([, path]) => path);
  return { objects, all };
}

const readFolder = (dir: string) => readdir(dir, { recursive: true, withFileTypes: true });

/** The text of one file, within bounds. Throws SnapshotError. */
export async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) throw new SnapshotError(path, `is larger than ${maxFileBytes} bytes; split it`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw new SnapshotError(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** The documents of a JSON or YAML file. Throws SnapshotError with the parser's own words and line. */
export async function readDocuments(path: string): Promise<unknown[]> {
  const text = await readText(path);
  if (text.trim() === '') return [];
  if (path.toLowerCase().endsWith('.json')) {
    try {
      return [JSON.parse(text)];
    } catch (error) {
      throw new SnapshotError(path, `is not valid JSON: ${(error as Error).message}`);
    }
  }
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'error' });
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem) throw new SnapshotError(path, `is not valid YAML: ${problem.message}`);
    try {
      // Aliases are bounded, so that a document cannot unfold into more than memory holds.
      return document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      throw new SnapshotError(path, `is not YAML to work with: ${(error as Error).message}`);
    }
  });
}

/** One JSON file checked against its schema; undefined where the file is absent. Throws SnapshotError. */
export async function readChecked<T>(path: string | undefined, schema: z.ZodType<T>): Promise<T | undefined> {
  if (path === undefined) return undefined;
  const [document] = await readDocuments(path);
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const problems = result.error.issues
    .slice(0, maxProblems)
    .map((issue) => `${issue.path.join('.') || '(root)'}: ${issue.message}`);
  throw new SnapshotError(path, problems.join('; '));
}
