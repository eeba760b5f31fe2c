import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { type DirectoryFile, directoryFile, emptyDirectory, type OwnerDirectory, type Team } from './directory.ts';

/** One thing that is wrong in the owner directory, with what would be right. */
export interface DirectoryProblem {
  file: string;
  /** Path of the entry, `teams.media.mention`; empty for the whole file. */
  key: string;
  found: string;
  allowed: string;
}

export type LoadedDirectory = { ok: true; directory: OwnerDirectory } | { ok: false; problems: DirectoryProblem[] };

export const describeDirectoryProblem = ({ file, key, found, allowed }: DirectoryProblem): string =>
  `${file}${key ? `: ${key}` : ''}: found ${found}, allowed is ${allowed}`;

interface ReadFile {
  file: string;
  content: DirectoryFile;
}

/**
 * Reads every .yaml and .yml file of the folder as one directory. A folder that is absent is an empty directory:
 * routing works without one. All problems of all files are answered together.
 */
export const loadDirectory = (folder: string): LoadedDirectory => {
  const problems: DirectoryProblem[] = [];
  const files = filesOf(folder, problems).flatMap((file) => readOne(folder, file, problems));
  const directory = merge(files, problems);
  // Teams of a file that could not be read would all look unknown.
  if (problems.length === 0) problems.push(...danglingTeams(files, directory));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, directory };
};

const filesOf = (folder: string, problems: DirectoryProblem[]): string[] => {
  try {
    return readdirSync(folder)
      .filter((file) => /\.ya?ml$/.test(file))
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      problems.push({ file: folder, key: '', found: code ?? 'unreadable', allowed: 'a folder this process can read' });
    return [];
  }
};

const readOne = (folder: string, file: string, problems: DirectoryProblem[]): ReadFile[] => {
  const document = parseDocument(readFileSync(join(folder, file), 'utf8'));
  for (const { message } of document.errors) {
    problems.push({ file, key: '', found: message.split('\n')[0] ?? 'broken YAML', allowed: 'valid YAML' });
  }
  if (document.errors.length > 0) return [];
  const raw = document.toJS() ?? {};
  const parsed = directoryFile.safeParse(raw);
  if (parsed.success) return [{ file, content: parsed.data }];
  problems.push(...parsed.error.issues.flatMap((issue) => problemsOf(file, raw, issue)));
  return [];
};

const at = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100));

const problemsOf = (file: string, raw: unknown, issue: z.core.$ZodIssue): DirectoryProblem[] => {
  const key = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({ file, key, found: `the key ${name}`, allowed: allowedKeys(issue.path) }));
  }
  const allowed = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return [
    { file, key, found: issue.code === 'invalid_key' ? show(issue.path.at(-1)) : show(at(raw, issue.path)), allowed },
  ];
};

const allowedKeys = (path: PropertyKey[]): string => {
  if (path.length === 0) return Object.keys(directoryFile.shape).join(', ');
  const section = String(path[0]);
  if (section === 'teams') return 'name, aliases, mention, channel';
  if (section === 'vendors') return 'name, mention, channel';
  if (section === 'workloads') return 'team, cluster, namespace, kind, name, labels';
  return 'a key that docs/owners.md lists';
};

/** Two files must not say different things about one entry. */
const joinSection = <T>(
  files: ReadFile[],
  section: string,
  pick: (content: DirectoryFile) => Record<string, T> | undefined,
  problems: DirectoryProblem[],
): Record<string, T> => {
  const joined: Record<string, T> = {};
  const origin = new Map<string, string>();
  for (const { file, content } of files) {
    for (const [key, value] of Object.entries(pick(content) ?? {})) {
      const first = origin.get(key);
      if (first)
        problems.push({
          file,
          key: section ? `${section}.${key}` : key,
          found: `a second entry, the first is in ${first}`,
          allowed: 'one entry',
        });
      else {
        joined[key] = value;
        origin.set(key, file);
      }
    }
  }
  return joined;
};

const merge = (files: ReadFile[], problems: DirectoryProblem[]): OwnerDirectory => {
  const section = <T>(
    name: string,
    pick: (content: DirectoryFile) => Record<string, T> | undefined,
  ): Record<string, T> => joinSection(files, name, pick, problems);
  const single = section('', ({ platform, defaults }) => ({
    ...(platform?.team ? { 'platform.team': platform.team } : {}),
    ...(defaults?.app ? { 'defaults.app': defaults.app } : {}),
  }));
  const teams = section('teams', ({ teams }) => teams);
  const vendors = section('vendors', ({ vendors }) => vendors);
  const keys = section('keys', ({ keys }) => keys);
  return {
    teams: Object.fromEntries(Object.entries(teams).map(([id, team]) => [id, teamOf(id, team)])),
    vendors: Object.fromEntries(
      Object.entries(vendors).map(([provider, vendor]) => [
        provider,
        { name: vendor?.name ?? '', mention: vendor?.mention ?? null, channel: vendor?.channel ?? null },
      ]),
    ),
    platform: {
      team: single['platform.team'] ?? null,
      clusters: section('platform.clusters', ({ platform }) => platform?.clusters),
    },
    namespaces: section('namespaces', ({ namespaces }) => namespaces),
    workloads: files.flatMap(({ content }) => content.workloads ?? []),
    defaults: { app: single['defaults.app'] ?? null },
    keys: { ...emptyDirectory.keys, ...keys },
  };
};

const teamOf = (id: string, team: NonNullable<DirectoryFile['teams']>[string]): Team => ({
  id,
  name: team.name ?? id,
  aliases: team.aliases ?? [],
  mention: team.mention ?? null,
  channel: team.channel ?? null,
});

/** Entries that send incidents to a team which no file describes. */
const danglingTeams = (files: ReadFile[], directory: OwnerDirectory): DirectoryProblem[] => {
  const known = Object.keys(directory.teams);
  const allowed = known.length > 0 ? `one of the teams ${known.join(', ')}` : 'a team under teams:';
  const check = (file: string, key: string, team: string | undefined): DirectoryProblem[] =>
    team === undefined || known.includes(team) ? [] : [{ file, key, found: JSON.stringify(team), allowed }];
  return files.flatMap(({ file, content }) => [
    ...check(file, 'platform.team', content.platform?.team),
    ...Object.entries(content.platform?.clusters ?? {}).flatMap(([cluster, team]) =>
      check(file, `platform.clusters.${cluster}`, team),
    ),
    ...Object.entries(content.namespaces ?? {}).flatMap(([namespace, team]) =>
      check(file, `namespaces.${namespace}`, team),
    ),
    ...(content.workloads ?? []).flatMap(({ team }, index) => check(file, `workloads.${index}.team`, team)),
    ...check(file, 'defaults.app', content.defaults?.app),
  ]);
};
