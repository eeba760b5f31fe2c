import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKubernetesApi } from '../fakes/kubernetes/server.ts';
import { makeSecrets } from '../redaction/planted-secrets.ts';
import { caseFolder, faultline, jsonLines } from './run.ts';

const restarts = caseFolder('catalog-api-restarts-every-hour');
/** One that is judged alike long after it was recorded, since a live cluster's now is the clock's. */
const crashes = caseFolder('agent-gateway-half-of-replicas-crash');
const object = ['pod/agent-gateway-wwsw28qw5-f76t4', '-n', 'assist'];

let home: string;
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((letter) => `case-${letter}`);
const fresh = (): string => join(home, names.shift()!);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'faultline-snapshots-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const textsOf = async (dir: string): Promise<string> => {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
};

const verdictOf = async (args: string[]) => {
  const { owner, rule, confidence } = jsonLines((await faultline(['triage', '--json', ...args])).stdout)[0];
  return { owner, rule, confidence };
};

describe('faultline snapshot', () => {
  it('writes a case that eval counts once its answer is added, as it says', async () => {
    const out = fresh();
    const { code, stdout, stderr } = await faultline(['snapshot', '--snapshot', restarts, '--out', out]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/"expected"[\s\S]*faultline eval/);
    const file = join(out, 'case.json');
    const written = JSON.parse(await readFile(file, 'utf8'));
    const { provider, cluster, region, captured_at } = JSON.parse(await readFile(join(restarts, 'case.json'), 'utf8'));
    expect(written).toMatchObject({ id: 'case-a', provider, cluster, region, captured_at });
    expect(written).not.toHaveProperty('expected');
    await writeFile(file, JSON.stringify({ ...written, expected: { owner: 'app' } }));
    const scored = await faultline(['eval', out, '--json', '--min', '1']);
    expect(scored.code).toBe(0);
    expect(jsonLines(scored.stdout).at(-1)).toMatchObject({ type: 'summary', cases: 1, ownerAccuracy: 1 });
  });

  it('saves an object’s surroundings from a live cluster, named directly or by faultline.yaml', async () => {
    const api = await startKubernetesApi(crashes);
    try {
      const config = join(home, 'faultline.yaml');
      await writeFile(
        config,
        JSON.stringify({
          clusters: [{ name: 'prod-eu', kubeconfig: api.kubeconfig, provider: 'eks', region: 'eu-west-1' }],
        }),
      );
      const [direct, configured] = [fresh(), fresh()];
      const runs = await Promise.all([
        faultline(['snapshot', ...object, '--kubeconfig', api.kubeconfig, '--out', direct]),
        faultline(['snapshot', ...object, '--cluster', 'prod-eu', '--out', configured], { FAULTLINE_CONFIG: config }),
      ]);
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
        { code: 0, stderr: '' },
        { code: 0, stderr: '' },
      ]);
      expect(runs[0]!.stdout).toContain(`faultline triage ${object.join(' ')} --snapshot ${direct}`);
      const live = await verdictOf([...object, '--kubeconfig', api.kubeconfig]);
      expect(live.owner).toBe('app');
      expect(await verdictOf([...object, '--snapshot', direct])).toEqual(live);
      const { cluster, region, ...rest } = JSON.parse(await readFile(join(configured, 'case.json'), 'utf8'));
      expect({ cluster, region }).toEqual({ cluster: 'prod-eu', region: 'eu-west-1' });
      expect(rest.apiserver.readyz.status).toBe(200);
    } finally {
      await api.close();
    }
  });

  it('writes no secret', async () => {
    const secrets = makeSecrets(7).filter(({ line }) => !line.includes('\n'));
    const leaky = fresh();
    await cp(restarts, leaky, { recursive: true });
    const podsFile = join(leaky, 'cluster/pods.json');
    const pods = JSON.parse(await readFile(podsFile, 'utf8'));
    const lines = secrets.map(({ line }) => line);
    for (const pod of pods.items) {
      pod.metadata.annotations = { note: lines.join(' ') };
      for (const container of pod.spec.containers) container.args = lines;
    }
    await writeFile(podsFile, JSON.stringify(pods));
    const alertFile = join(leaky, 'alert.json');
    const alert = JSON.parse(await readFile(alertFile, 'utf8'));
    alert.alerts[0].annotations.description = lines.join('\n');
    await writeFile(alertFile, JSON.stringify(alert));
    const logs = (await readdir(join(leaky, 'logs'), { recursive: true })).filter((name) => name.endsWith('.log'));
    await Promise.all(logs.map((name) => writeFile(join(leaky, 'logs', name), lines.join('\n'))));
    const out = fresh();
    expect((await faultline(['snapshot', '--snapshot', leaky, '--out', out])).code).toBe(0);
    const written = await textsOf(out);
    expect(written).toContain('[redacted:');
    expect(secrets.filter(({ secret }) => written.includes(secret)).map(({ line }) => line)).toEqual([]);
  });

  it('never writes over a folder that holds something', async () => {
    const used = fresh();
    await cp(restarts, used, { recursive: true });
    const before = await textsOf(used);
    const { code, stderr } = await faultline(['snapshot', '--snapshot', restarts, '--out', used]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `${used}: is not empty: choose a new folder with --out\n` });
    expect(await textsOf(used)).toBe(before);
  });

  it.each([
    ['no cluster', object, /say which cluster, in one way/],
    ['two clusters', [...object, '--snapshot', restarts, '--context', 'prod'], /say which cluster, in one way/],
    ['a cluster that is not configured', [...object, '--cluster', 'prod'], /no cluster "prod" in faultline.yaml/],
    ['nothing to save', ['--context', 'prod'], /say what to save: <kind\/name> -n <namespace>, or --alert FILE/],
  ])('exits 2 for %s and writes nothing', async (_what, args, words) => {
    const out = fresh();
    const { code, stdout, stderr } = await faultline(['snapshot', ...args, '--out', out]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(words);
    await expect(readdir(out)).rejects.toThrow('ENOENT');
  });
});
