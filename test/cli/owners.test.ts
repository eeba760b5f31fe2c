import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseFolder, faultline } from './run.ts';

const snapshot = ['--snapshot', caseFolder('catalog-api-restarts-every-hour')];

describe('faultline owners explain', () => {
  let owners: string;
  beforeAll(async () => {
    owners = await mkdtemp(join(tmpdir(), 'faultline-owners-'));
    await writeFile(join(owners, 'teams.yaml'), 'teams: {catalog: {name: Catalogue team}}\n');
    await writeFile(join(owners, 'apps.yaml'), 'namespaces: {catalog: catalog}\n');
  });
  afterAll(() => rm(owners, { recursive: true, force: true }));

  const explain = (workload: string, env: Record<string, string> = {}) =>
    faultline(['owners', 'explain', workload, ...snapshot], env);

  it('names the team and the fact that decided, after those that did not', async () => {
    const { code, stdout } = await explain('catalog/catalog-api', { FAULTLINE_OWNERS_DIR: owners });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^catalog\/catalog-api belongs to Catalogue team: entry namespaces\.catalog.* of the owner directory\n/,
    );
    expect(stdout).toMatch(/\n {2}absent +Deployment catalog\/catalog-api: .*\n[\s\S]* {2}decides +directory: /);
  });

  it('says which places were looked at where none names a team', async () => {
    const { code, stdout } = await explain('catalog/catalog-api');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /Owner of namespace catalog: where it runs, namespace catalog: no team is named by Deployment/,
    );
  });

  it('exits 2 for a workload that is not there', async () => {
    const { code, stdout, stderr } = await explain('catalog/nothing');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/catalog\/nothing was not found in media-core/);
  });

  it('exits 2 for a directory with problems, and names the file', async () => {
    const bad = join(owners, 'bad');
    await mkdir(bad);
    await writeFile(join(bad, 'teams.yaml'), 'teams: {catalog: {colour: red}}\n');
    const { code, stdout, stderr } = await explain('catalog/catalog-api', { FAULTLINE_OWNERS_DIR: bad });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/The owner directory has a problem:\n.*teams\.yaml/);
  });
});
