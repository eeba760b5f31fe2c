import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Faultline, webhookToken } from '../e2e/faultline.ts';
import { embedded, type Install } from '../e2e/installs.ts';
import { caseFolder, faultline } from './run.ts';

const body = join(caseFolder('watchdog-heartbeat'), 'alert.json');
const incident = join(caseFolder('catalog-api-restarts-every-hour'), 'alert.json');

describe('faultline replay', () => {
  let install: Install;
  let server: Faultline;
  beforeAll(async () => {
    install = await embedded();
    server = await Faultline.start({
      env: { ...install.env, PORT: '0', ALERTMANAGER_WEBHOOK_TOKEN: webhookToken },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await install?.remove();
  });

  const replay = (file: string, token = webhookToken) =>
    faultline(['replay', file, '--url', server.url], { ALERTMANAGER_WEBHOOK_TOKEN: token });

  it('posts a saved body to the running server and says what became of it', async () => {
    const first = await replay(incident);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^opened +[0-9a-f-]{36}\n$/) });
    const id = first.stdout.trim().split(/ +/)[1];
    expect((await replay(incident)).stdout).toMatch(new RegExp(`^unchanged +${id}\n$`));
  });

  it('says nothing of a heartbeat, which opens no incident', async () => {
    expect(await replay(body)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('exits 2 with the line that helps: a wrong token, no file, no server', async () => {
    const [wrong, absent, away] = await Promise.all([
      replay(incident, 'another'),
      replay('/not/there.json'),
      faultline(['replay', incident, '--url', 'http://127.0.0.1:1'], { ALERTMANAGER_WEBHOOK_TOKEN: 'a' }),
    ]);
    expect([wrong.code, absent.code, away.code]).toEqual([2, 2, 2]);
    expect(wrong.stderr).toMatch(/answered 401.*credentials/);
    expect(absent.stderr).toMatch(/cannot read \/not\/there\.json/);
    expect(away.stderr).toMatch(/does not answer.*--url/);
  });
});

describe('faultline serve', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-serve-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('refuses a bad configuration and lists every problem at once, without secrets', async () => {
    const file = join(folder, 'faultline.yaml');
    await writeFile(file, 'clusters: [{name: prod}]\nlanguage: latin\ncolour: red\n');
    const { code, stdout, stderr } = await faultline(['serve'], {
      FAULTLINE_CONFIG: file,
      PORT: 'eighty',
      SLACK_BOT_TOKEN: 'my-secret-token',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^The configuration has \d problems:\n/);
    for (const part of ['PORT', 'eighty', 'SLACK_BOT_TOKEN', 'xoxb-', 'DATABASE_URL', 'postgres://'])
      expect(stderr).toContain(part);
    for (const part of ['clusters[0]', 'exactly one of kubeconfig', 'language', 'latin', 'colour'])
      expect(stderr).toContain(part);
    expect(stderr).not.toMatch(/my-secret-token|hunter2|\n {4}at /);
  });
});

describe('faultline demo', () => {
  it('plays its eight incidents once: exit 0 with every answer right', { timeout: 120_000 }, async () => {
    const { code, stdout } = await faultline(['demo', '--once']);
    const table = stdout.slice(stdout.lastIndexOf('\n\n'));
    const right = table.match(/^✓ /gm)?.length ?? 0;
    const wrong = table.match(/^✗ /gm)?.length ?? 0;
    expect({ right, wrong, code }).toEqual({ right: 8, wrong: 0, code: 0 });
  });
});
