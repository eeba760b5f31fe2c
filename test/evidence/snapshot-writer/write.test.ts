import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeFolder } from '../../../src/evidence/snapshot-writer/write.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'faultline-write-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

it('writes files below the folder', async () => {
  const out = join(home, 'case');
  await writeFolder(out, new Map([['logs/shop/web..1/app.log', 'x']]));
  expect(await readFile(join(out, 'logs/shop/web..1/app.log'), 'utf8')).toBe('x');
});

it.each(['../escaped', 'logs/../../escaped', 'logs/..', '.', ''])(
  'writes nothing where a name leads elsewhere: %j',
  async (name) => {
    const out = join(home, 'never');
    await expect(
      writeFolder(
        out,
        new Map([
          ['case.json', '{}'],
          [name, 'x'],
        ]),
      ),
    ).rejects.toThrow(/names a file outside the folder/);
    expect(await readdir(home)).toEqual(['case']);
  },
);
