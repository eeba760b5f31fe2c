import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { loadRules } from '../../src/rules/load.ts';
import { triage } from '../../src/triage/triage.ts';

export const casesFolder = new URL('../cases/', import.meta.url).pathname;

/** The files of an incident case, by path below its folder. */
export type CaseFiles = Map<string, string>;

export const readCase = async (id: string): Promise<CaseFiles> => {
  const folder = join(casesFolder, id);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      paths.map(async (path): Promise<[string, string]> => [relative(folder, path), await readFile(path, 'utf8')]),
    ),
  );
};

const ruleSet = await loadRules();

export const writeCase = async (folder: string, files: CaseFiles): Promise<void> => {
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
};

/** Judges a case as its files now stand. */
export const judgeFiles = async (files: CaseFiles): Promise<Verdict> => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-case-'));
  try {
    await writeCase(folder, files);
    const snapshot = await openSnapshot(folder);
    const target = alertTarget(await readAlerts(join(folder, 'alert.json')), snapshot.meta.cluster);
    return (await triage(ruleSet, target, snapshot)).verdict;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

export const answerOf = (verdict: Verdict): string => (verdict.state === 'fault' ? verdict.owner : verdict.state);

/** All objects of a case's cluster folder, with the file each is in. */
export const objectsOf = (files: CaseFiles): { path: string; items: any[] }[] =>
  [...files]
    .filter(([path]) => path.startsWith('cluster/') && path.endsWith('.json'))
    .map(([path, text]) => {
      const parsed = JSON.parse(text);
      return { path, items: parsed.kind?.endsWith('List') ? parsed.items : [parsed] };
    });

export const withObjects = (files: CaseFiles, change: (items: any[], path: string) => any[]): CaseFiles => {
  const changed = new Map(files);
  for (const { path, items } of objectsOf(files))
    changed.set(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: change(items, path) }));
  return changed;
};

/** A small deterministic generator (mulberry32), so that a failure can be repeated. */
export const chance = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
