import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/config/load.ts';
import { awsAccounts } from '../src/evidence/aws/account.ts';
import { lokiOf, prometheusOf, storesOf } from '../src/stores.ts';

const opened = (yaml: string) => {
  const loaded = loadConfig({}, () => yaml);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config } = loaded;
  return { config, cluster: config.clusters[0]!, accounts: awsAccounts({ timeoutMs: 1000 }) };
};
const prometheus = (yaml: string) => {
  const { cluster, config, accounts } = opened(yaml);
  return prometheusOf(cluster, config, accounts);
};
const general = 'prometheusUrl: http://shared\nprometheusAuth: {bearerToken: shared-token}\n';

describe('the Prometheus of a cluster', () => {
  it('is the general one with the general credentials', () => {
    expect(prometheus(`${general}clusters: [{name: a, context: a}]`)).toEqual({
      url: 'http://shared',
      bearerToken: 'shared-token',
    });
  });

  it('of its own is never sent the general credentials', () => {
    expect(prometheus(`${general}clusters: [{name: a, context: a, prometheusUrl: http://own}]`)).toEqual({
      url: 'http://own',
    });
  });

  it('may be asked by credentials of the cluster', () => {
    const auth = 'prometheusAuth: {username: a, password: pw, tenant: a}';
    expect(prometheus(`${general}clusters: [{name: a, context: a, ${auth}}]`)).toEqual({
      url: 'http://shared',
      basicAuth: { username: 'a', password: 'pw' },
      tenant: 'a',
    });
  });

  it('is signed for the region of its workspace', async () => {
    const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
    Object.assign(process.env, keys);
    try {
      const url = 'https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-1';
      const options = prometheus(
        `clusters: [{name: a, context: a, prometheusUrl: '${url}', prometheusAuth: {sigv4: true}}]`,
      );
      const headers = await options!.sign!(new URL(`${url}/api/v1/query_range?query=up`), AbortSignal.timeout(5000));
      expect(headers.authorization).toMatch(/Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/aps\/aws4_request/);
    } finally {
      for (const name of Object.keys(keys)) delete process.env[name];
    }
  });
});

describe('the past logs of a cluster', () => {
  it('come from its Loki, by the labels it has', () => {
    const { cluster } = opened(
      `clusters: [{name: a, context: a, loki: {url: http://loki, tenant: a, labels: {pod: pod_name}, matchers: ['cluster="a"']}}]`,
    );
    expect(lokiOf(cluster)).toEqual({
      url: 'http://loki',
      tenant: 'a',
      labels: { namespace: 'namespace', pod: 'pod_name', container: 'container' },
      matchers: ['cluster="a"'],
    });
  });

  it.each([
    ['nowhere where none is set', '', false],
    ['CloudWatch Logs', ', region: us-east-1, cloudWatchLogs: true', true],
    ['Loki', ', loki: {url: http://loki}', true],
  ])('come from %s', (_, more, exists) => {
    const { cluster, config, accounts } = opened(`clusters: [{name: a, context: a${more}}]`);
    expect(Boolean(storesOf(cluster, config, accounts).pastLogs)).toBe(exists);
  });
});
