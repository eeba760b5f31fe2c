import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { settings } from '../../src/config/settings.ts';
import { permissionsPage } from './permissions-page.ts';
import { clusterManifest, namespacedManifest } from './rbac.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const objectsIn = (path: string): any[] => parseAllDocuments(read(path)).map((document) => document.toJS());
const roleFiles = ['deploy/clusterrole.yaml', 'deploy/clusterrole-without-logs.yaml', 'deploy/namespaces.yaml'];

describe('the roles', () => {
  // Written anew by `vitest run test/deploy -u`.
  it.each([
    ['deploy/clusterrole.yaml', () => clusterManifest({ logs: true })],
    ['deploy/clusterrole-without-logs.yaml', () => clusterManifest({ logs: false })],
    ['deploy/namespaces.yaml', namespacedManifest],
    ['docs/permissions.md', permissionsPage],
  ])('%s follows from what triage reads', async (path, derive) => {
    await expect(derive()).toMatchFileSnapshot(`../../${path}`);
  });

  it.each(roleFiles)('%s grants reads alone, and never Secrets or a way into a pod', (path) => {
    const rules = objectsIn(path).flatMap(({ rules = [] }) => rules);
    expect(rules.length).toBeGreaterThan(10);
    expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list']));
    const granted: string[] = rules.flatMap(({ resources = [] }) => resources);
    expect(granted).toContain('events');
    expect(granted.filter((resource) => resource.includes('*') || resource === 'secrets')).toEqual([]);
    expect(granted.filter((resource) => resource.includes('/'))).toEqual(granted.filter((one) => one === 'pods/log'));
    const groups = rules.flatMap(({ apiGroups = [] }) => apiGroups);
    expect(groups).not.toContain('*');
  });

  it('differ in container logs alone', () => {
    const [withLogs, without] = roleFiles.slice(0, 2).map((path) => {
      const rules = objectsIn(path).flatMap(({ rules = [] }) => rules);
      return new Set(rules.flatMap(({ resources = [] }) => resources as string[]));
    });
    expect([...withLogs!.difference(without!)]).toEqual(['pods/log']);
    expect(without!.difference(withLogs!).size).toBe(0);
  });

  it.each(roleFiles)('%s grants to get a ConfigMap, and to list none', (path) => {
    const rules = objectsIn(path).flatMap(({ rules = [] }) => rules);
    const verbs = rules.filter(({ resources = [] }) => resources.includes('configmaps')).map((rule) => rule.verbs);
    expect(verbs.length).toBeGreaterThan(0);
    expect(new Set(verbs.flat())).toEqual(new Set(['get']));
  });
});

describe('deploy/deployment.yaml', () => {
  const objects = objectsIn('deploy/deployment.yaml');
  const only = (kind: string): any => objects.find((object) => object.kind === kind);
  const { template } = only('Deployment').spec;
  const [container] = template.spec.containers;

  it('runs as the account that the roles are bound to', () => {
    const account = objectsIn('deploy/clusterrole.yaml').find(({ kind }) => kind === 'ServiceAccount').metadata;
    expect(template.spec.serviceAccountName).toBe(account.name);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set([account.namespace]));
  });

  it('runs the version of this repository', () => {
    expect(container.image).toBe(`faultline:${JSON.parse(read('package.json')).version}`);
  });

  it('carries a configuration that loads', () => {
    const text = only('ConfigMap').data['faultline.yaml'];
    const env = Object.fromEntries(
      container.env.filter((one: any) => one.value).map((one: any) => [one.name, one.value]),
    );
    const [mount] = container.volumeMounts.filter(({ name }: any) => name === 'config');
    expect(env.FAULTLINE_CONFIG).toBe(`${mount.mountPath}/faultline.yaml`);
    const loaded = loadConfig(env, (path) => (path === env.FAULTLINE_CONFIG ? text : undefined));
    expect(loaded).toMatchObject({ ok: true, config: { clusters: [{ inCluster: true }], dataDir: '/data' } });
    const port = parse(text).server.port ?? 3000;
    expect([container.ports[0].containerPort, only('Service').spec.ports[0].targetPort]).toEqual([port, port]);
  });

  it('takes secrets from a Secret, by settings that exist', () => {
    const known = new Set(settings.map(({ env }) => env));
    const fromSecret = container.env.filter((one: any) => one.valueFrom?.secretKeyRef);
    expect(fromSecret.length).toBeGreaterThan(3);
    for (const { name, valueFrom } of fromSecret) {
      expect(known).toContain(name);
      expect(valueFrom.secretKeyRef).toEqual({ name: 'faultline', key: name, optional: true });
    }
  });

  it('never runs two processes on one data folder, nor as root', () => {
    expect(only('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('is probed at pages that exist', async () => {
    const paths = await Promise.all(
      ['health', 'ready'].map(async (page) => (await import(`../../handlers/pages/${page}.ts`)).default.path),
    );
    const probed = [container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(probed).toEqual(paths);
  });
});

describe('the ways to start', () => {
  it('give Node the same flags', () => {
    const { start, faultline } = JSON.parse(read('package.json')).scripts as Record<string, string>;
    const image = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(read('Dockerfile'))![1]!) as string[];
    const program = read('src/cli.ts').split('\n')[0]!;
    const flags = [start!, faultline!, image.join(' '), program].map((line) => line.match(/--\S+/g));
    expect(flags).toEqual(Array.from({ length: 4 }, () => ['--max-semi-space-size=4']));
  });
});
