import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';
import { requireService } from './require-service.ts';

const version = '5.2.5';
const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), `faultline/moto-${version}`);
const binary = join(folder, 'bin/moto_server');

/** Whether the suites of moto's AWS can run here. */
export const motoInstalled = (): boolean =>
  requireService(
    'moto',
    existsSync(binary),
    `python3 -m venv ${folder} && ${folder}/bin/pip install 'moto[server]==${version}'`,
  );

export interface RunningMoto {
  url: string;
  stop(): Promise<void>;
}

/** An empty AWS on loopback: accounts, roles and resources live in its memory. */
export async function startMoto(): Promise<RunningMoto> {
  const port = await freePort();
  const server = spawn(binary, ['-H', '127.0.0.1', '-p', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    createInterface({ input: server.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('Running on http')) resolve();
    });
    ended.then(() => reject(new Error(`moto ended:\n${lines.join('\n')}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.kill();
      await ended;
    },
  };
}
