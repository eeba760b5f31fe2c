import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import alertmanager from '../../../handlers/webhooks/alertmanager.ts';
import { createServer } from '../../../src/http/server.ts';
import { type IncomingNotification, StorageUnavailable } from '../../../src/incidents/ports.ts';
import { configOf, handlerDeps } from '../../fakes/handler-deps.ts';
import { freePort } from '../../services/free-port.ts';
import { requireService } from '../../services/require-service.ts';

const run = promisify(execFile);
const program = '/usr/bin/prometheus-alertmanager';
const present = requireService(
  'Alertmanager with amtool',
  existsSync(program) && existsSync('/usr/bin/amtool'),
  'apt-get install prometheus-alertmanager',
);

/** The receiver snippet of the documentation, as a reader would copy it. */
const snippet =
  /```yaml\n(# alertmanager\.yaml\n[\s\S]*?)```/.exec(readFileSync('docs/alertmanager.md', 'utf8'))?.[1] ?? '';

describe.skipIf(!present)('the documented receiver, in a real Alertmanager', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-alertmanager-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is a right configuration', async () => {
    const file = join(folder, 'documented.yaml');
    await writeFile(file, snippet);
    const { stdout, stderr } = await run('/usr/bin/amtool', ['check-config', file]);
    expect(stdout + stderr).toMatch(/SUCCESS[\s\S]*1 receivers/);
  });

  it('delivers firing and resolved, and tries again after 503', async () => {
    const deliveries: IncomingNotification[] = [];
    const waiting: { status: string; resolve(notification: IncomingNotification): void }[] = [];
    const statusOf = (notification: IncomingNotification) => notification.alerts[0]?.alert.status ?? '';
    const delivered = (status: string) => {
      const { promise, resolve } = Promise.withResolvers<IncomingNotification>();
      waiting.push({ status, resolve });
      return promise;
    };
    let attempts = 0;
    const server = createServer(
      handlerDeps({
        config: configOf('webhooks: {alertmanagerToken: from-a-file}\nclusters: [{name: prod, inCluster: true}]'),
        receive: async (notification) => {
          attempts += 1;
          if (attempts === 1) throw new StorageUnavailable('not yet');
          deliveries.push(notification);
          for (const waiter of waiting) if (waiter.status === statusOf(notification)) waiter.resolve(notification);
          return [];
        },
      }),
      [alertmanager],
    );
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    const port = await freePort();
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'from-a-file');
    const configured = snippet
      .replace(/url: .*/, `url: ${address}/webhooks/alertmanager`)
      .replace(/credentials_file: .*/, `credentials_file: ${tokenFile}`)
      .replace(/group_wait: .*/, 'group_wait: 0s')
      .replace(/group_interval: .*/, 'group_interval: 1s');
    await writeFile(join(folder, 'alertmanager.yml'), configured);
    const flags = ['--config.file', join(folder, 'alertmanager.yml'), '--storage.path', join(folder, 'data')];
    const child = spawn(program, [...flags, `--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      const ready = Promise.withResolvers<void>();
      child.stderr.on('data', (chunk) => String(chunk).includes('Listening on') && ready.resolve());
      child.once('exit', (code) => ready.reject(new Error(`Alertmanager ended with ${code}`)));
      await ready.promise;
      const send = (endsAt?: string) =>
        fetch(`http://127.0.0.1:${port}/api/v2/alerts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([
            {
              labels: { alertname: 'KubePodNotReady', namespace: 'shop', pod: 'web-0' },
              annotations: {},
              ...(endsAt ? { endsAt } : {}),
            },
          ]),
        });

      const firing = delivered('firing');
      await send();
      expect(await firing).toMatchObject({
        receiver: 'faultline',
        rejected: [],
        alerts: [
          { cluster: 'prod', subject: { kind: 'Pod', name: 'web-0' }, alert: { endsAt: '0001-01-01T00:00:00Z' } },
        ],
      });
      expect(attempts).toBeGreaterThan(1);

      const resolved = delivered('resolved');
      await send(new Date().toISOString());
      const key = deliveries[0]?.alerts[0]?.correlationKey;
      expect((await resolved).alerts).toMatchObject([{ correlationKey: key, alert: { status: 'resolved' } }]);
    } finally {
      child.kill();
      await server.close();
    }
  });
});
