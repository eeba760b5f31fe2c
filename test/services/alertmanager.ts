import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.ts';
import { requireService } from './require-service.ts';

const binary = '/usr/bin/prometheus-alertmanager';

export const hasAlertmanager = (): boolean =>
  requireService('Alertmanager', existsSync(binary), 'apt-get install prometheus-alertmanager');

/** An alert as Prometheus posts it; without `endsAt` it fires until `resolve_timeout`. */
export interface PostedAlert {
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  startsAt: string;
  endsAt?: string;
}

export interface AlertmanagerService {
  url: string;
  post(alerts: PostedAlert[]): Promise<void>;
  stop(): Promise<void>;
}

export interface Receiver {
  url: string;
  bearerToken: string;
}

/** One receiver that gets every group at once, its changes within a second, and all of it again every two seconds. */
const configuration = ({ url, bearerToken }: Receiver) => ({
  route: {
    receiver: 'faultline',
    group_by: ['alertname', 'cluster', 'namespace'],
    group_wait: '100ms',
    group_interval: '1s',
    repeat_interval: '2s',
  },
  receivers: [
    {
      name: 'faultline',
      webhook_configs: [
        { url, send_resolved: true, http_config: { authorization: { type: 'Bearer', credentials: bearerToken } } },
      ],
    },
  ],
});

/** A server of its own on loopback, without a cluster. */
export async function startAlertmanager(receiver: Receiver): Promise<AlertmanagerService> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-alertmanager-'));
  const file = join(folder, 'alertmanager.yml');
  await writeFile(file, stringify(configuration(receiver)));
  const address = `127.0.0.1:${await freePort()}`;
  const server = spawn(
    binary,
    [
      `--config.file=${file}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('Listening on')) resolve();
    });
    ended.then(() => reject(new Error(`prometheus-alertmanager ended:\n${log}`)));
  });
  return {
    url: `http://${address}`,
    async post(alerts) {
      const response = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      if (!response.ok) throw new Error(`Alertmanager answered ${response.status}: ${await response.text()}`);
    },
    async stop() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
