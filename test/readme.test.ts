import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { settings } from '../src/config/settings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...(await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
];
const texts = new Map(
  await Promise.all(
    pages.map(async (page): Promise<[string, string]> => [page, await readFile(join(root, page), 'utf8')]),
  ),
);

describe('the documents', () => {
  test('link only to what exists', () => {
    const broken = [...texts].flatMap(([page, text]) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map((match) => join(page.includes('/') ? 'docs' : '.', match[1]!))
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page} → ${path}`),
    );
    expect(broken).toEqual([]);
  });

  test('name only npm scripts and commands that exist', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const commands = (await readdir(join(root, 'src/cli/commands'))).map((name) => name.replace('.ts', ''));
    const readme = texts.get('README.md')!;
    for (const [, script] of readme.matchAll(/npm run ([a-z:]+)/g)) expect(Object.keys(scripts)).toContain(script);
    for (const [, command] of readme.matchAll(/npm run faultline -- ([a-z]+)/g)) expect(commands).toContain(command);
  });

  test('name only environment variables that are read', () => {
    const known = new Set(
      settings.flatMap(({ env, secret }) => (env ? [env, ...(secret ? [`${env}_FILE`] : [])] : [])),
    );
    known.add('FAULTLINE_CONFIG');
    const named = [...texts.get('README.md')!.matchAll(/`([A-Z][A-Z_]{3,})`/g)].map((match) => match[1]!);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
