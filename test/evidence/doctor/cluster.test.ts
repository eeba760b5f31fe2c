import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CheckGroup } from '../../../src/evidence/doctor/check.ts';
import { checkCluster } from '../../../src/evidence/doctor/cluster.ts';
import { formatChecks } from '../../../src/evidence/doctor/format.ts';
import { healthPaths, permissions } from '../../../src/evidence/kubernetes/permissions.ts';
import { type KubernetesApi, kubeconfigFor, startKubernetesApi } from '../../fakes/kubernetes/server.ts';
import { type CaseOptions, caseFiles, withFolder } from '../kubernetes/fixture.ts';

const withApi = (options: CaseOptions, use: (api: KubernetesApi) => Promise<void>): Promise<void> =>
  withFolder(caseFiles(options), async (dir) => {
    const api = await startKubernetesApi(dir);
    try {
      await use(api);
    } finally {
      await api.close();
    }
  });

const failures = ({ checks }: CheckGroup): string[] =>
  checks.filter(({ status }) => status === 'failed').map(({ name }) => name);

describe('checkCluster', () => {
  it('finds every right in order, and does not ask for those of CRDs that are not installed', () =>
    withApi({}, async (api) => {
      const group = await checkCluster('test', { kubeconfig: api.kubeconfig });
      expect(failures(group)).toEqual([]);
      expect(group.checks[0]).toEqual({ name: 'connection', status: 'ok', detail: `Kubernetes v1.33.1 at ${api.url}` });
      expect(group.checks).toHaveLength(1 + permissions().length + healthPaths.length);
      const keda = group.checks.filter(({ name }) => name.includes('keda.sh'));
      expect(keda.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    }));

  it('writes nothing but reviews of its own access', () =>
    withApi({}, async (api) => {
      await checkCluster('test', { kubeconfig: api.kubeconfig });
      const written = api.requests.filter(({ method }) => method !== 'GET');
      expect(written.length).toBeGreaterThan(50);
      const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      expect(new Set(written.map(({ method, url }) => `${method} ${url}`))).toEqual(new Set([`POST ${reviews}`]));
    }));

  it('names each missing right and the line that grants it', () =>
    withApi({ deny: ['events', 'pods/log', 'nodepools.karpenter.sh', '/readyz'] }, async (api) => {
      const group = await checkCluster('test', { kubeconfig: api.kubeconfig });
      expect(failures(group)).toEqual([
        'get events in all namespaces',
        'list events in all namespaces',
        'get nodepools.karpenter.sh',
        'list nodepools.karpenter.sh',
        'get pods/log in all namespaces',
        'get /readyz',
      ]);
      expect(formatChecks([group])).toContain(
        '  failed  list events in all namespaces: not allowed\n' +
          '          fix: grant `list events in all namespaces`: kubectl apply -f deploy/clusterrole.yaml',
      );
    }));

  it('stops at a connection that fails, with its reason', () =>
    withApi({}, async (api) => {
      await writeFile(api.kubeconfig, JSON.stringify(kubeconfigFor(api.url, { token: 'expired' })));
      const denied = await checkCluster('test', { kubeconfig: api.kubeconfig });
      expect(denied.checks).toMatchObject([{ status: 'failed', fix: 'renew the credentials of this cluster' }]);

      const unknown = await checkCluster('test', { kubeconfig: api.kubeconfig, context: 'prod' });
      expect(unknown.checks).toMatchObject([{ status: 'failed', detail: expect.stringContaining('it has: test') }]);

      await api.stop();
      const away = await checkCluster('test', { kubeconfig: api.kubeconfig });
      expect(away.checks).toMatchObject([{ status: 'failed', detail: expect.stringContaining('ECONNREFUSED') }]);
    }));
});

describe('formatChecks', () => {
  it('counts what is in order and shows what is not', () => {
    const ok = { name: 'get pods', status: 'ok', detail: 'allowed' } as const;
    const group: CheckGroup = {
      title: 'cluster a',
      checks: [
        { name: 'connection', status: 'ok', detail: 'Kubernetes v1' },
        ok,
        ok,
        { name: 'list events', status: 'failed', detail: 'not allowed', fix: 'grant it' },
        { name: 'list x', status: 'skipped', detail: 'not installed' },
      ],
    };
    expect(formatChecks([group, { title: 'cluster b', checks: [] }])).toBe(
      [
        'cluster a',
        '  ok      connection: Kubernetes v1',
        '  failed  list events: not allowed',
        '          fix: grant it',
        '  ok      2 of 4 permissions and settings in order',
        '  skipped 1 that this installation does not have',
        '',
        'cluster b',
      ].join('\n'),
    );
  });
});
