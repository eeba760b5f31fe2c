import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClusterAccessError } from '../../../src/evidence/kubernetes/access.ts';
import { connect } from '../../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../../src/evidence/kubernetes/live.ts';
import { resources } from '../../../src/triage/resources.ts';
import { kubeconfigFor, startKubernetesApi } from '../../fakes/kubernetes/server.ts';
import { requireService } from '../../services/require-service.ts';
import { caseFiles, withFolder } from './fixture.ts';
import { withApi } from './with-api.ts';

const openssl = '/usr/bin/openssl';
const hasOpenssl = (): boolean => requireService('openssl', existsSync(openssl), 'apt-get install openssl');

describe('what is not installed', () => {
  it('has no objects, and that is an answer', () =>
    withApi(async ({ reader }) => {
      expect(await reader.list(resources.scaledobjects, { limit: 10 })).toEqual({
        ok: true,
        value: [],
        complete: true,
      });
      expect(await reader.get(resources.scaledobjects, 'x', 'shop')).toMatchObject({
        ok: false,
        gap: { reason: 'not-found' },
      });
    }));
});

describe('read only', () => {
  it('asks by GET alone, and never for Secrets, exec, attach, port-forward or proxy', () =>
    withApi(async ({ api, reader }) => {
      for (const resource of Object.values(resources)) {
        await reader.list(resource, { limit: 10 });
        await reader.get(resource, 'web-0', resource.scope === 'namespace' ? 'shop' : undefined);
      }
      await reader.log('shop', 'web-0', 'app', { previous: true, tailLines: 5 });
      await reader.log('shop/pods/web-0/exec', 'web-0', 'app', { previous: false, tailLines: 5 });
      await reader.get(resources.pods, 'web-0/proxy', 'shop');
      await reader.get(resources.pods, 'db', '../secrets');
      await reader.probe('readyz');
      expect(api.requests.length).toBeGreaterThan(70);
      expect(new Set(api.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
      const forbidden = /\/api\/v1\/(.*\/)?secrets\b|\/(exec|attach|portforward|proxy)\b/i;
      expect(api.requests.map(({ url }) => url).filter((url) => forbidden.test(decodeURIComponent(url)))).toEqual([]);
    }));
});

describe('access', () => {
  it('names the contexts there are when one is missing', () =>
    withApi(async ({ api }) => {
      expect(() => connect({ kubeconfig: api.kubeconfig, context: 'prod' })).toThrow(
        new ClusterAccessError('no context "prod" in the kubeconfig; it has: test'),
      );
      expect(() => connect({ kubeconfig: '/nonexistent/kubeconfig' })).toThrow('the kubeconfig cannot be read');
    }));

  it('credentials that are not accepted are a gap with its fix', () =>
    withApi(
      async ({ reader }) => {
        const read = await reader.list(resources.pods, { limit: 10 });
        expect(read).toMatchObject({
          ok: false,
          gap: { reason: 'forbidden', fix: expect.stringContaining('renew the credentials') },
        });
        expect(await reader.probe('readyz')).toMatchObject({ ok: false, gap: { reason: 'forbidden' } });
      },
      {},
      async (api) => kubeconfigFor(api.url, { token: 'expired' }),
    ));

  it('runs a credential plugin once for concurrent calls', () =>
    withApi(
      async ({ dir, reader }) => {
        const reads = ['a', 'b', 'c', 'd'].map((app) =>
          reader.list(resources.pods, { limit: 10, labelSelector: `app=${app}` }),
        );
        expect((await Promise.all(reads)).every(({ ok }) => ok)).toBe(true);
        expect(await readFile(join(dir, 'runs'), 'utf8')).toBe('run\n');
      },
      {},
      async (api, dir) => kubeconfigFor(api.url, execUser(`echo run >> ${dir}/runs; echo '${execCredential}'`)),
    ));

  it('a credential plugin that fails is a gap with what it said', () =>
    withApi(
      async ({ reader }) => {
        const read = await reader.list(resources.pods, { limit: 10 });
        expect(read).toMatchObject({
          ok: false,
          gap: { reason: 'failed', message: expect.stringContaining('no identity provider') },
        });
      },
      {},
      async (api) => kubeconfigFor(api.url, execUser('echo no identity provider >&2; exit 1')),
    ));

  it.skipIf(!hasOpenssl())('verifies the server’s certificate', () =>
    withFolder(caseFiles(), async (dir) => {
      const trusted = selfSigned(dir, 'trusted');
      const other = selfSigned(dir, 'other');
      const api = await startKubernetesApi(dir, trusted);
      for (const [cert, answered] of [
        [trusted.cert, true],
        [other.cert, false],
      ] as const) {
        await writeFile(api.kubeconfig, JSON.stringify(kubeconfigFor(api.url, { token: 'test-bearer' }, cert)));
        const connection = connect({ kubeconfig: api.kubeconfig });
        expect((await liveCluster(connection).reader().probe('readyz')).ok).toBe(answered);
        connection.close();
      }
      await api.close();
    }),
  );
});

const execUser = (script: string): object => ({
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', script],
    interactiveMode: 'Never',
  },
});

const execCredential = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  status: { token: 'test-bearer', expirationTimestamp: '2099-01-01T00:00:00Z' },
});

function selfSigned(dir: string, name: string): { key: string; cert: string } {
  const [keyPath, certPath] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    keyPath,
    '-out',
    certPath,
  ];
  execFileSync(openssl, ['req', '-x509', ...key, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(certPath, 'utf8') };
}
