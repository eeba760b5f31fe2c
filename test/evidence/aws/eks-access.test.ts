import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLive } from '../../../src/clusters.ts';
import { awsAccounts } from '../../../src/evidence/aws/account.ts';
import { ClusterAccessError } from '../../../src/evidence/kubernetes/access.ts';
import { startAwsApi } from '../../fakes/aws/server.ts';
import { requireService } from '../../services/require-service.ts';
import { questionAbout } from './question.ts';
import { ownKeys, withEnvironment } from './with-aws.ts';

const openssl = '/usr/bin/openssl';
const hasOpenssl = (): boolean => requireService('openssl', existsSync(openssl), 'apt-get install openssl');

/** An API server with a certificate of its own that remembers who called. */
const withApiServer = async (use: (server: { url: string; ca: string; tokens: string[] }) => Promise<void>) => {
  const dir = await mkdtemp(join(tmpdir(), 'eks-'));
  const [key, cert] = [join(dir, 'tls.key'), join(dir, 'tls.crt')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const pair = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert];
  execFileSync(openssl, ['req', '-x509', ...pair, ...subject], { stdio: 'ignore' });
  const ca = await readFile(cert, 'utf8');
  const tokens: string[] = [];
  const server = https.createServer({ key: await readFile(key), cert: ca }, (request, response) => {
    tokens.push(request.headers.authorization ?? '');
    response.end(JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', items: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca, tokens });
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true });
  }
};

const access = { eks: true, eksName: 'prod-usw2', region: 'us-west-2', provider: 'eks' as const };

describe('an EKS cluster without a kubeconfig', () => {
  it.skipIf(!hasOpenssl())('is reached at its endpoint, with its certificate, by tokens made here', () =>
    withApiServer(async ({ url, ca, tokens }) => {
      const certificateAuthority = { data: Buffer.from(ca).toString('base64') };
      const api = await startAwsApi({
        'eks.describeCluster': { body: { cluster: { status: 'ACTIVE', endpoint: url, certificateAuthority } } },
      });
      await withEnvironment(ownKeys, async () => {
        const accounts = awsAccounts({ timeoutMs: 5000, endpoint: api.url });
        const cluster = await openLive(access, undefined, 5000, accounts);
        expect(cluster.identity).toMatchObject({ provider: 'eks', region: 'us-west-2' });
        expect(new Set(tokens).size).toBe(1);
        expect(tokens[0]).toMatch(/^Bearer k8s-aws-v1\.[\w-]+$/);
        const read = await cluster.readers().cloud!.call('eks.describeCluster', questionAbout());
        expect(read).toMatchObject({ ok: true, value: { answer: { cluster: { endpoint: url } } } });
      });
      await api.close();
    }),
  );

  it('that EKS does not know is the operator’s to correct', async () => {
    const api = await startAwsApi({
      'eks.describeCluster': { error: 'ResourceNotFoundException', message: 'No cluster found', status: 404 },
    });
    await withEnvironment(ownKeys, async () => {
      const accounts = awsAccounts({ timeoutMs: 5000, endpoint: api.url });
      const opening = openLive(access, undefined, 5000, accounts);
      await expect(opening).rejects.toThrow(ClusterAccessError);
      await expect(opening).rejects.toThrow(/No cluster found.*correct eksName, region or role/);
    });
    await api.close();
  });
});
