import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Which folders of src a folder may import. Dependencies point inward; whoever is not listed here is at the edge
 * (cli, main) and may import all.
 */
const allowed: Record<string, string[]> = {
  domain: [],
  facts: ['domain'],
  redaction: ['domain'],
  rules: ['domain', 'facts', 'triage'],
  triage: ['domain', 'facts'],
  intake: ['domain', 'config', 'incidents'],
  config: ['domain'],
  routing: ['domain', 'facts'],
  escalation: ['domain', 'facts', 'routing', 'redaction'],
  evidence: ['domain', 'facts', 'triage'],
  incidents: ['domain', 'facts', 'triage'],
  commands: ['domain', 'incidents', 'intake'],
  slack: ['domain', 'incidents', 'commands'],
  console: ['domain', 'incidents'],
  queue: ['domain', 'incidents'],
  alertmanager: ['domain', 'incidents'],
  storage: ['domain', 'incidents'],
  eval: ['domain', 'evidence'],
  http: ['domain', 'config', 'incidents', 'console', 'commands'],
};

/** Packages that only one folder may import, so that each neighbour is spoken to in one place. */
const onlyIn: Record<string, string[]> = {
  bullmq: ['queue'],
  ioredis: ['queue'],
  kysely: ['storage'],
  pg: ['storage'],
  '@electric-sql/pglite': ['storage'],
  '@kubernetes/client-node': ['evidence'],
  '@slack/bolt': ['slack'],
  '@slack/web-api': ['slack'],
  liquidjs: ['escalation', 'slack'],
  fastify: ['http', 'console'],
};

interface SourceFile {
  path: string;
  folder: string;
  imports: string[];
}

const sourceFiles = async (top: string): Promise<SourceFile[]> => {
  const entries = await readdir(join(root, top), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(paths.map(read));
};

const read = async (path: string): Promise<SourceFile> => {
  const { module, errors } = parseSync(path, await readFile(path, 'utf8'));
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const name = relative(root, path);
  const parts = name.split('/');
  return {
    path: name,
    folder: parts[0] === 'src' && parts.length > 2 ? parts[1]! : parts[0] === 'src' ? 'main' : parts[0]!,
    imports: [
      ...module.staticImports.map((entry) => entry.moduleRequest.value),
      ...module.staticExports
        .flatMap((entry) => entry.entries.map((item) => item.moduleRequest?.value ?? ''))
        .filter(Boolean),
    ],
  };
};

const folderOf = (file: SourceFile, specifier: string): string => {
  const target = relative(root, resolve(root, dirname(file.path), specifier)).split('/');
  return target[0] === 'src' && target.length > 2 ? target[1]! : target[0] === 'src' ? 'main' : target[0]!;
};

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('imports', async () => {
  const files = [...(await sourceFiles('src')), ...(await sourceFiles('handlers'))];

  test('point inward', () => {
    const wrong = files.flatMap((file) => {
      const may = allowed[file.folder];
      if (!may) return [];
      return file.imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => folderOf(file, specifier))
        .filter((folder) => folder !== file.folder && !may.includes(folder))
        .map((folder) => `${file.path} imports ${folder}`);
    });
    expect(wrong).toEqual([]);
  });

  test('speak to each neighbour in one place', () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .map(packageOf)
        .filter((name) => onlyIn[name] && !onlyIn[name].includes(file.folder) && file.folder !== 'cli')
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(wrong.filter((line) => !line.startsWith('handlers/'))).toEqual([]);
  });

  test('form no cycle', () => {
    const graph = new Map(
      files.map((file) => [
        file.path,
        file.imports.filter((s) => s.startsWith('.')).map((s) => relative(root, resolve(root, dirname(file.path), s))),
      ]),
    );
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
        return;
      }
      state.set(path, 'open');
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  test('rules are pure: no I/O, no clock, no chance', async () => {
    const rules = files.filter((file) => file.folder === 'rules' && file.path !== 'src/rules/load.ts');
    const impure = rules.filter((file) => file.imports.some((specifier) => !specifier.startsWith('.')));
    expect(impure.map((file) => file.path)).toEqual([]);
    for (const file of rules) {
      expect(await readFile(join(root, file.path), 'utf8'), file.path).not.toMatch(
        /Date\.now|new Date\(\)|Math\.random|process\.|\basync\b/,
      );
    }
  });
});

describe('files', async () => {
  const files = [...(await sourceFiles('src')), ...(await sourceFiles('handlers'))];

  test('stay under 300 lines', async () => {
    const lengths = await Promise.all(
      files.map(
        async (file) => [file.path, (await readFile(join(root, file.path), 'utf8')).split('\n').length] as const,
      ),
    );
    expect(lengths.filter(([, lines]) => lines > 300)).toEqual([]);
  });

  test('every rule has a test of its name', async () => {
    const rules = files
      .filter((file) => /^src\/rules\/(cloud|platform|app)\//.test(file.path))
      .map((file) => file.path.split('/').at(-1)!.replace('.ts', ''));
    const tests = new Set((await readdir(join(root, 'test/rules'))).map((name) => name.replace('.test.ts', '')));
    expect(rules.filter((id) => !tests.has(id))).toEqual([]);
  });
});
