import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import alertmanager from '../../handlers/webhooks/alertmanager.ts';
import { createServer } from '../../src/http/server.ts';
import { replay } from '../../src/intake/replay.ts';
import { configOf, handlerDeps } from '../fakes/handler-deps.ts';
import { freePort } from '../services/free-port.ts';

const file = 'test/cases/crashloop-report-worker/alert.json';

describe('replay', () => {
  const outcome = { incidentId: '01J', change: 'opened' as const };
  const deps = handlerDeps({ config: configOf('webhooks: {alertmanagerToken: t}'), receive: async () => [outcome] });
  const server = createServer(deps, [alertmanager]);
  let url: string;
  let folder: string;
  beforeAll(async () => {
    url = await server.listen({ host: '127.0.0.1', port: 0 });
    folder = await mkdtemp(join(tmpdir(), 'faultline-replay-'));
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('posts a saved body and gives the incidents', async () => {
    expect(await replay({ file, url, token: 't' })).toEqual({ ok: true, incidents: [outcome], rejected: [] });
  });

  it('says why the server refused it', async () => {
    expect(await replay({ file, url, token: 'wrong' })).toEqual({
      ok: false,
      error: expect.stringMatching(/answered 401: the webhook token/),
      fix: expect.stringMatching(/credentials/),
    });
  });

  it('says what is wrong with the file before anything is sent', async () => {
    expect(await replay({ file: 'none.json', url, token: 't' })).toMatchObject({
      error: expect.stringMatching(/none\.json \(ENOENT\)/),
    });
    const other = join(folder, 'other.json');
    await writeFile(other, '{"version":"3"}');
    expect(await replay({ file: other, url, token: 't' })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/version 4/),
    });
  });

  it('says that nobody listens', async () => {
    const result = await replay({ file, url: `http://127.0.0.1:${await freePort()}`, token: 't' });
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/ECONNREFUSED/),
      fix: expect.stringMatching(/npm start/),
    });
  });
});
