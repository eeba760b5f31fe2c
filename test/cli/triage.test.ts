import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSecrets } from '../redaction/planted-secrets.ts';
import { caseFolder, faultline, jsonLines } from './run.ts';

const restarts = caseFolder('catalog-api-restarts-every-hour');

/** Fields of a verdict line, as docs/cases.md promises them. */
const contract = {
  type: 'verdict',
  id: expect.any(String),
  state: expect.stringMatching(/^(fault|expected|over)$/),
  owner: expect.stringMatching(/^(cloud|platform|app|undetermined)$/),
  confidence: expect.stringMatching(/^(high|medium|low)$/),
  cause: expect.stringMatching(/./),
  contributing: expect.any(Array),
  evidence: expect.any(Array),
  chain: expect.any(Array),
  cleared: expect.any(Array),
  unknown: expect.any(Array),
  nextSteps: expect.any(Array),
  apiCalls: expect.any(Number),
  durationMs: expect.any(Number),
};

const evidence = {
  layer: expect.stringMatching(/^(cloud|platform|app)$/),
  source: expect.any(String),
  object: expect.any(String),
  uid: expect.any(String),
  field: expect.any(String),
  value: expect.any(String),
  text: expect.any(String),
  at: expect.any(String),
  reproduce: expect.any(String),
  limits: expect.any(String),
};

/** A key whose value may be null, but which is there. */
const keys = ['boundary', 'deadline'];

describe('faultline triage', () => {
  it('answers for an incident folder: the owner first, then the proof', async () => {
    const { code, stdout, stderr } = await faultline(['triage', '--snapshot', restarts]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'ContainerRestartsHigh · Pod catalog/catalog-api-rc5wbnkhc-n4t24 · media-core',
      'OWNER app (high confidence)',
    ]);
    expect(stdout).toMatch(/\nLayers\n.*\nChain\n.*\nEvidence\n.*again: kubectl .*\nNext\n/s);
  });

  it('prints the one line of the contract with --json, the same for the alert named', async () => {
    const alert = ['--alert', join(restarts, 'alert.json')];
    const [folder, named] = await Promise.all([
      faultline(['triage', '--snapshot', restarts, '--json']),
      faultline(['triage', '--snapshot', restarts, '--json', ...alert]),
    ]);
    const [line, ...more] = jsonLines(folder.stdout);
    expect(more).toEqual([]);
    expect(line).toMatchObject({ ...contract, id: 'catalog-api-restarts-every-hour', owner: 'app' });
    expect(Object.keys(line)).toEqual(expect.arrayContaining(keys));
    expect(line.evidence.length).toBeGreaterThan(0);
    for (const entry of line.evidence)
      expect({ ...entry, uid: entry.uid ?? '', at: entry.at ?? '' }).toMatchObject(evidence);
    for (const link of line.chain)
      expect(link).toMatchObject({ object: expect.any(String), uid: expect.any(String), claim: expect.any(String) });
    for (const layer of line.cleared)
      expect(layer).toEqual({ layer: expect.any(String), because: expect.stringMatching(/./) });
    expect({ ...jsonLines(named.stdout)[0], durationMs: 0 }).toEqual({ ...line, durationMs: 0 });
  });

  it('triages an object without any alert', async () => {
    const object = ['deployment/catalog-api', '-n', 'catalog'];
    const { code, stdout } = await faultline(['triage', ...object, '--snapshot', restarts, '--json']);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ owner: 'app', confidence: 'high' }]);
  });

  it('says how many pods are in trouble where no workload counts replicas', async () => {
    const folder = caseFolder('transcode-burst-instance-create-errors');
    expect((await faultline(['triage', '--snapshot', folder])).stdout).toContain('\nImpact\n  7 of 7 pods in trouble');
  });

  it.each([
    ['a misspelt option', ['--snapshop', restarts], /Did you mean --snapshot/],
    ['a folder that is not there', ['--snapshot', '/not/there'], /\/not\/there/],
    ['an alert that is not there', ['--snapshot', restarts, '--alert', '/not/there.json'], /cannot read \/not\/there/],
    ['no cluster', ['deployment/web', '-n', 'shop'], /--context NAME, --kubeconfig FILE or --snapshot DIR/],
    ['an object without its namespace', ['deployment/web', '--snapshot', restarts], /add -n <namespace>/],
    [
      'an object that is not there',
      ['deployment/catalog', '-n', 'catalog', '--snapshot', restarts],
      /^Deployment catalog\/catalog was not found in media-core; deployments there: catalog-api, catalog-ui\n$/,
    ],
    ['an unknown kind', ['gadget/web', '-n', 'shop', '--snapshot', restarts], /cannot triage "gadget\/web"/],
  ])('exits 2 for %s, with the line that helps', async (_what, args, words) => {
    const { code, stdout, stderr } = await faultline(['triage', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('evidence from a hostile cluster', () => {
  let folder: string;
  const secrets = makeSecrets(99).filter(({ line }) => !line.includes('\n'));
  // Sets the window title, clears the screen, turns text around, and poses as a verdict.
  const attack = 'x\u001b]0;owned\u0007\u001b[2J\u009b31m\u202etxt\r\nOWNER cloud (high confidence)';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-hostile-'));
    await cp(restarts, folder, { recursive: true });
    const file = join(folder, 'cluster/pods.json');
    const pods = JSON.parse(await readFile(file, 'utf8'));
    for (const pod of pods.items)
      for (const container of pod.spec.containers)
        for (const variable of container.env ?? [])
          if (variable.name === 'JAVA_TOOL_OPTIONS')
            variable.value = [variable.value, attack, ...secrets.map(({ line }) => line)].join(' ');
    await writeFile(file, JSON.stringify(pods));
    const alertFile = join(folder, 'alert.json');
    const body = JSON.parse(await readFile(alertFile, 'utf8'));
    body.alerts[0].labels.alertname = `Restarts${attack}`;
    await writeFile(alertFile, JSON.stringify(body));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const active = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  it.each([
    ['the report', []],
    ['--json', ['--json']],
  ])('cannot act in the terminal, pose as an answer or show a secret: %s', async (_what, flags) => {
    const { code, stdout } = await faultline(['triage', '--snapshot', folder, ...flags]);
    expect(code).toBe(0);
    expect(stdout).toContain('owned');
    expect(stdout).not.toMatch(active);
    expect(stdout).not.toMatch(/^OWNER cloud/m);
    expect(secrets.filter(({ secret }) => stdout.includes(secret)).map(({ line }) => line)).toEqual([]);
  });
});

it('lets no text of a folder that cannot be read act in the terminal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-triage-'));
  await writeFile(join(folder, 'pods.yaml'), 'kind: [\u001b[31mred\u202e');
  const { code, stderr } = await faultline(['triage', 'pod/a', '-n', 'b', '--snapshot', folder]);
  await rm(folder, { recursive: true });
  expect(code).toBe(2);
  expect(stderr).toMatch(/pods\.yaml: is not valid YAML.*red/s);
  expect(stderr).not.toMatch(/[\u001b\u202e]/);
});
