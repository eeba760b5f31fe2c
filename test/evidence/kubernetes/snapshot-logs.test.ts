import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { indexLogs, snapshotPastLogs } from '../../../src/evidence/kubernetes/snapshot-logs.ts';

it('gives the logs of a pod that is gone by container, and former runs apart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'past-logs-'));
  try {
    const files = new Map<string, string>();
    for (const name of ['app.log', 'proxy.log', 'app.previous.log']) {
      await writeFile(join(folder, name), `said in ${name}\n`);
      files.set(`logs/shop/chat-0/${name}`, join(folder, name));
    }
    const reader = snapshotPastLogs(indexLogs(files));
    const wanted = { namespace: 'shop', pod: 'chat-0', since: '2026-05-01T10:00:00Z', until: '2026-05-01T10:40:00Z' };
    const said = async (rest: { pod?: string; container?: string; previous: boolean }) => {
      const read = await reader.read({ ...wanted, ...rest });
      return read.ok ? read.value.map(({ container, text }) => [container, text.trim()]) : read;
    };
    expect(await said({ previous: false })).toEqual([
      ['app', 'said in app.log'],
      ['proxy', 'said in proxy.log'],
    ]);
    expect(await said({ previous: true, container: 'app' })).toEqual([['app', 'said in app.previous.log']]);
    expect(await said({ previous: false, pod: 'chat' })).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
