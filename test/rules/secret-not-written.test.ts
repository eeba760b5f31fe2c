import { expect, test } from 'vitest';
import rule from '../../src/rules/platform/secret-not-written.ts';
import { condition, expectSilent, findingsOf, object } from './harness.ts';
import { deployment, podOf } from './workloads.ts';

const app = deployment('web');
const pod = podOf('web', 'a', {
  ready: false,
  status: { state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "web-v2" not found' } } },
});
const subject = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const external = (message: string, kind = 'ClusterSecretStore', ready = 'False') =>
  object('ExternalSecret', 'web-v2', {
    namespace: 'shop',
    spec: { target: { name: 'web-v2' }, secretStoreRef: { kind, name: 'main' } },
    status: { conditions: [condition('Ready', ready, 'SecretSyncedError', message)] },
  });
const store = (kind: string, namespace?: string) =>
  object(kind, 'main', {
    namespace,
    status: { conditions: [condition('Ready', 'False', 'InvalidProviderConfig', 'AccessDenied')] },
  });
const judged = (...more: ReturnType<typeof object>[]) =>
  findingsOf(rule, { subject, objects: [...app, pod, ...more] })[0];

test('the store that is not ready decides: the cluster’s is the platform’s, a namespace’s its team’s', () => {
  expect(judged(external('store is not ready'), store('ClusterSecretStore'))).toMatchObject({
    owner: 'platform',
    strength: 'direct',
    boundary: 'config',
  });
  expect(judged(external('store is not ready', 'SecretStore'), store('SecretStore', 'shop'))?.owner).toBe('app');
  expect(judged(external('ClusterSecretStore "main" is not ready'))?.owner).toBe('platform');
});

test('a reference that names nothing is the team’s; a certificate of a cluster issuer is not', () => {
  expect(judged(external('could not get secret data from provider: key prod/web does not exist'))).toMatchObject({
    owner: 'app',
    strength: 'direct',
  });
  const certificate = object('Certificate', 'web', {
    namespace: 'shop',
    spec: { secretName: 'web-v2', issuerRef: { kind: 'ClusterIssuer', name: 'main' } },
    status: { conditions: [condition('Ready', 'False', 'DoesNotExist', 'Referenced ClusterIssuer not ready')] },
  });
  expect(judged(certificate)?.owner).toBe('platform');
});

test('silent where nobody should write it, or it was written', () => {
  expectSilent(rule, { subject, objects: [...app, pod] });
  expectSilent(rule, { subject, objects: [...app, pod, external('', 'ClusterSecretStore', 'True')] });
});
