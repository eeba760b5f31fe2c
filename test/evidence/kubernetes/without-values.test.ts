import { expect, test } from 'vitest';
import { readableObject } from '../../../src/evidence/kubernetes/bounded.ts';

const secret = 'pa55word-of-nobody';
const configMap = (name: string, namespace: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace,
    managedFields: [{ manager: 'kubectl', time: '2026-11-20T08:00:00Z', fieldsV1: { 'f:data': { 'f:app.yaml': {} } } }],
  },
  data: { 'app.yaml': `password: ${secret}` },
  binaryData: { 'store.jks': 'aGVsbG8=' },
});

test('of an application’s ConfigMap its keys, lengths and writers are kept, and no value', () => {
  const read = readableObject(configMap('settings', 'shop'))!;
  expect(read.data).toEqual({ 'app.yaml': '28 characters, not kept' });
  expect(read.binaryData).toEqual({ 'store.jks': '8 characters, not kept' });
  expect(read.metadata.managedFields).toHaveLength(1);
  expect(JSON.stringify(readableObject(configMap('coredns', 'shop')))).not.toContain(secret);
});

test('a known ConfigMap of kube-system is kept whole', () => {
  expect(readableObject(configMap('coredns', 'kube-system'))!.data).toEqual({ 'app.yaml': `password: ${secret}` });
  expect(JSON.stringify(readableObject(configMap('other', 'kube-system')))).not.toContain(secret);
});

test('releases keep their source, revision and state, and nothing of what they are rendered with', () => {
  const source = {
    repoURL: 'https://git.example/shop',
    helm: { parameters: [{ name: 'db.password', value: secret }] },
  };
  const application = readableObject({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'argocd' },
    spec: { source, sources: [source] },
    status: { history: [{ id: 1, revision: '4f2c1d9', source }], operationState: { operation: { sync: { source } } } },
  })!;
  expect(JSON.stringify(application)).not.toContain(secret);
  expect(application.spec.source.repoURL).toBe('https://git.example/shop');
  expect(application.status.history[0]).toMatchObject({ id: '1', revision: '4f2c1d9' });
  const release = readableObject({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: 'shop', namespace: 'shop' },
    spec: { chart: { spec: { chart: 'web' } }, values: { db: { password: secret } } },
  })!;
  expect(JSON.stringify(release)).not.toContain(secret);
  expect(release.spec.chart.spec.chart).toBe('web');
});
