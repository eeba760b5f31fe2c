import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { requireService } from './require-service.ts';

const binary = '/usr/bin/redis-server';

export const hasRedis = (): boolean => requireService('Redis', existsSync(binary), 'apt-get install redis-server');

export interface RedisService {
  url: string;
  /** Kills the server, or starts an empty one at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  restartEmpty(): Promise<void>;
  remove(): Promise<void>;
}

/** A server of its own on loopback that keeps nothing. */
export async function startRedis(): Promise<RedisService> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-redis-'));
  const port = await freePort();
  let server = await launch(port, folder);
  const stop = async () => {
    if (server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    server = await launch(port, folder);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    start,
    async restartEmpty() {
      await stop();
      await start();
    },
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const options = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = spawn(binary, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    server.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ready to accept connections')) resolve();
    });
  });
  return server;
}
