import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { directoryFile, emptyDirectory, findTeam, platformTeamOf } from '../../src/routing/directory.ts';
import { matchesPattern } from '../../src/routing/directory-match.ts';
import { describeDirectoryProblem, loadDirectory } from '../../src/routing/load-directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'owners-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const problemsOf = (files: Record<string, string>): string[] => {
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  const loaded = loadDirectory(folder);
  return loaded.ok ? [] : loaded.problems.map(describeDirectoryProblem);
};

describe('the owner directory', () => {
  it('an absent folder is an empty directory', () => {
    expect(loadDirectory(join(folder, 'none'))).toEqual({ ok: true, directory: emptyDirectory });
  });

  it('the example is valid and does what it says', () => {
    const loaded = loadDirectory('owners.example');
    if (!loaded.ok) throw new Error(loaded.problems.map(describeDirectoryProblem).join('\n'));
    const { directory } = loaded;
    expect(findTeam(directory, 'group:default/media')?.id).toBe('media');
    expect(findTeam(directory, '@Media-Squad')?.id).toBe('media');
    expect(findTeam(directory, 'nobody')).toBeUndefined();
    expect(platformTeamOf(directory, 'any').team.name).toBe('Cluster platform');
    expect(directory.namespaces.checkout).toBe('payments');
    expect(directory.keys).toEqual(emptyDirectory.keys);
  });

  it('the documented example is the format', () => {
    const blocks = [...readFileSync('docs/owners.md', 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) =>
      parse(yaml!),
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(directoryFile.safeParse(block).error?.issues ?? []).toEqual([]);
  });

  it('joins all files', () => {
    expect(
      problemsOf({
        'a.yaml': 'teams: { media: {} }',
        'b.yml': 'namespaces: { media: media }\nkeys: { labels: [crew] }',
        'empty.yaml': '',
        'notes.txt': 'not yaml: [',
      }),
    ).toEqual([]);
    const loaded = loadDirectory(folder);
    expect(loaded.ok && loaded.directory).toMatchObject({
      teams: { media: { id: 'media', name: 'media' } },
      namespaces: { media: 'media' },
      keys: { labels: ['crew'], alertLabels: emptyDirectory.keys.alertLabels },
    });
  });

  it('tells all problems of all files at once, each with key, found and allowed', () => {
    const problems = problemsOf({
      'a.yaml': 'teams:\n  media: { mention: "@media", chanel: C01 }\n  "": {}\nvendors: { aws: {} }',
      'b.yaml': 'workloads: [{ team: media }]\nplatform: 7',
      'c.yaml': 'teams: [',
    });
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^a\.yaml: teams\.media\.mention: found "@media", allowed is the id of a Slack user/),
        'a.yaml: teams.media: found the key chanel, allowed is name, aliases, mention, channel',
        expect.stringMatching(/^a\.yaml: vendors/),
        expect.stringMatching(
          /^b\.yaml: workloads\.0: found .*allowed is at least one of namespace, kind, name, labels/,
        ),
        expect.stringMatching(/^b\.yaml: platform: found 7/),
        expect.stringMatching(/^c\.yaml: found .*allowed is valid YAML/),
      ]),
    );
  });

  it('an entry for a team that nobody describes is a problem', () => {
    expect(
      problemsOf({
        'a.yaml': 'teams: { media: {} }\nnamespaces: { x: medai }\nplatform: { team: sre }\ndefaults: { app: y }',
      }),
    ).toEqual([
      'a.yaml: platform.team: found "sre", allowed is one of the teams media',
      'a.yaml: namespaces.x: found "medai", allowed is one of the teams media',
      'a.yaml: defaults.app: found "y", allowed is one of the teams media',
    ]);
  });

  it('two files may not say different things', () => {
    expect(
      problemsOf({
        'a.yaml': 'teams: { media: {} }\nplatform: { team: media }',
        'b.yaml': 'teams: { media: {} }\nplatform: { team: media }',
      }),
    ).toEqual([
      'b.yaml: platform.team: found a second entry, the first is in a.yaml, allowed is one entry',
      'b.yaml: teams.media: found a second entry, the first is in a.yaml, allowed is one entry',
    ]);
  });
});

describe('patterns', () => {
  it.each([
    ['media', 'media', true],
    ['media', 'media2', false],
    ['media-*', 'media-eu', true],
    ['media-*', 'media', false],
    ['*', 'anything', true],
    ['*-db', 'orders-db', true],
    ['a*b*c', 'a1b2b3c', true],
    ['a*b*c', 'a1c', false],
    ['ab*ba', 'aba', false],
  ])('%s and %s: %s', (pattern, value, expected) => {
    expect(matchesPattern(pattern, value)).toBe(expected);
  });
});
