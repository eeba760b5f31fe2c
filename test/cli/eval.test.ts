import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseFolder, faultline, jsonLines } from './run.ts';

const right = caseFolder('watchdog-heartbeat');

describe('faultline eval', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-eval-'));
    const wrong = join(folder, 'cases/wrong');
    await cp(caseFolder('catalog-api-restarts-every-hour'), wrong, { recursive: true });
    const file = join(wrong, 'case.json');
    const answer = JSON.parse(await readFile(file, 'utf8'));
    answer.expected = { ...answer.expected, owner: 'cloud', accept: [], must_not_blame: ['app'] };
    await writeFile(file, JSON.stringify({ ...answer, id: 'wrong' }));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('prints a line per case below the folders and a summary, in JSON', async () => {
    const { code, stdout } = await faultline(['eval', right, folder, '--json']);
    const lines = jsonLines(stdout);
    expect(code).toBe(0);
    expect(lines.map(({ type, id }) => [type, id])).toEqual([
      ['verdict', 'watchdog-heartbeat'],
      ['verdict', 'wrong'],
      ['summary', undefined],
    ]);
    expect(lines[2]).toMatchObject({ cases: 2, ownerAccuracy: 0.5, wrongPages: 1, failed: ['wrong'] });
  });

  it('exits 1 below the asked accuracy, with the case that failed and what misled it', async () => {
    const { code, stdout } = await faultline(['eval', folder, '--min', '0.5']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/owner accuracy +0\.0%/);
    expect(stdout).toMatch(/✗ wrong: app at high confidence, answer cloud[\s\S]*misled by /);
  });

  it('exits 0 at the asked accuracy', async () => {
    expect((await faultline(['eval', right, '--min', '1'])).code).toBe(0);
  });

  it.each([
    ['a folder that is not there', ['/not/there'], /cannot read \/not\/there/],
    ['a folder without cases', [join(right, 'cluster')], /no case\.json below/],
    ['a share that is none', [right, '--min', '80'], /--min 80 is no share: give a number from 0 to 1/],
  ])('exits 2 for %s', async (_what, args, words) => {
    const { code, stderr } = await faultline(['eval', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
  });

  it('says what to add to a case without an answer, and judges the others', async () => {
    const open = join(folder, 'open');
    await cp(right, open, { recursive: true });
    const file = join(open, 'case.json');
    const { expected, ...rest } = JSON.parse(await readFile(file, 'utf8'));
    expect(expected).toBeDefined();
    await writeFile(file, JSON.stringify(rest));
    const alone = await faultline(['eval', open]);
    expect({ code: alone.code, stdout: alone.stdout }).toEqual({ code: 2, stdout: '' });
    expect(alone.stderr).toMatch(/has no "expected"[\s\S]*"expected": \{ "owner": [\s\S]*faultline triage --snapshot/);
    const both = await faultline(['eval', open, right]);
    expect(both.code).toBe(2);
    expect(both.stdout).toMatch(/cases +1\n[\s\S]*by confidence +high 1 of 1 right \(100\.0%\), medium none, low none/);
    await rm(open, { recursive: true });
  });

  it('exits 2 for a case whose objects cannot be read, and names the file', async () => {
    const broken = join(folder, 'broken');
    await cp(right, broken, { recursive: true });
    await writeFile(join(broken, 'cluster/pods.json'), '{"items": [');
    const { code, stderr } = await faultline(['eval', broken]);
    expect(code).toBe(2);
    expect(stderr).toContain('cluster/pods.json');
    const both = await faultline(['eval', broken, right, '--json']);
    expect(both.code).toBe(2);
    expect(JSON.parse(both.stdout.trim().split('\n').at(-1)!)).toMatchObject({ type: 'summary', cases: 1 });
  });
});
