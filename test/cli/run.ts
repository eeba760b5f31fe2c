import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const cases = fileURLToPath(new URL('../cases', import.meta.url));

export const caseFolder = (id: string): string => join(cases, id);

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `faultline …` with nothing of the environment of whoever runs the tests. */
export const faultline = async (args: string[], env: Record<string, string> = {}): Promise<Ran> => {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(tmpdir(), 'faultline-compile-cache'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
};

export const jsonLines = (output: string): any[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
