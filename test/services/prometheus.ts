import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { requireService } from './require-service.ts';

const run = promisify(execFile);
const binary = '/usr/bin/prometheus';
const promtool = '/usr/bin/promtool';

/** Whether the suites of a real Prometheus can run here. */
export const prometheusInstalled = (): boolean =>
  requireService('prometheus', existsSync(binary) && existsSync(promtool), 'apt-get install prometheus');

export interface RunningPrometheus {
  url: string;
  stop(): Promise<void>;
}

/** A real Prometheus on loopback that holds exactly the samples of an OpenMetrics file, and scrapes nothing. */
export async function startPrometheus(openMetricsPath: string): Promise<RunningPrometheus> {
  const dir = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const file = join(dir, 'metrics.om');
  await copyFile(openMetricsPath, file);
  await run(promtool, ['tsdb', 'create-blocks-from', 'openmetrics', file, join(dir, 'data')]);
  await writeFile(join(dir, 'prometheus.yml'), 'scrape_configs: []\n');
  const port = await freePort();
  const server = spawn(binary, [
    `--config.file=${join(dir, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    // Recorded incidents may lie years away from the machine's clock.
    '--storage.tsdb.retention.time=100y',
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    createInterface({ input: server.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('Server is ready to receive web requests')) resolve();
    });
    ended.then(() => reject(new Error(`prometheus ended:\n${lines.join('\n')}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.kill();
      await ended;
      await rm(dir, { recursive: true });
    },
  };
}
