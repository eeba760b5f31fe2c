import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Faultline, webhookToken } from '../e2e/faultline.ts';
import { embedded, type Install } from '../e2e/installs.ts';
import { eventually } from '../services/eventually.ts';
import { caseFolder, faultline } from './run.ts';

const id = 'orders-containers-creating';

describe('faultline incident, and an incident as a case', () => {
  let install: Install;
  let server: Faultline;
  let folder: string;
  beforeAll(async () => {
    install = await embedded();
    folder = await mkdtemp(join(tmpdir(), 'faultline-incident-'));
    server = await Faultline.start({
      env: {
        ...install.env,
        PORT: '0',
        ALERTMANAGER_WEBHOOK_TOKEN: webhookToken,
        FAULTLINE_CLUSTERS: JSON.stringify([{ name: 'demo', snapshot: caseFolder(id) }]),
        FAULTLINE_DEFAULT_CLUSTER: 'demo',
      },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await install?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const said = async (...words: string[]): Promise<string> =>
    (await faultline(['incident', ...words, '--server', server.url])).stdout.trim();

  it('triages on demand, takes a correction, and saves the incident as a case with its answer', {
    timeout: 60_000,
  }, async () => {
    const asked = await said('triage', 'namespace/orders');
    const short = /incident ([0-9a-f]{8})/.exec(asked)?.[1] ?? '';
    expect(short).not.toBe('');
    await eventually(() => said('list')).toContain('confidence');
    const owner = (await said('show', short)).includes('platform team') ? 'app' : 'platform';
    expect(await said('handoff', owner, short, 'they told us', '--wrong')).toContain('Handed over');
    expect(await said('timeline', short)).toContain('correct-owner (local console)');

    const out = join(folder, 'case');
    const saved = await faultline(['snapshot', '--incident', short, '--server', server.url, '--out', out]);
    expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('a case with an answer') });
    expect(JSON.parse(await readFile(join(out, 'case.json'), 'utf8')).expected).toMatchObject({
      owner,
      why: 'they told us',
    });
    const judged = await faultline(['eval', out]);
    expect(judged.stdout).toMatch(/cases +1/);
  });

  it('says what helps: a wrong command, no such incident, no server', async () => {
    expect(await said('lst')).toContain('Did you mean: list');
    const none = await faultline([
      'snapshot',
      '--incident',
      'ffffffff',
      '--server',
      server.url,
      '--out',
      join(folder, 'x'),
    ]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no incident begins with ffffffff') });
    const away = await faultline(['incident', 'list', '--server', 'http://127.0.0.1:1']);
    expect(away).toMatchObject({ code: 2, stderr: expect.stringContaining('faultline serve') });
  });
});
