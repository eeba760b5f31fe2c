import { describe, expect, it } from 'vitest';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import { openLive } from '../../../src/clusters.ts';
import { loadRules } from '../../../src/rules/load.ts';
import { triage } from '../../../src/triage/triage.ts';
import { withLargeFolder } from '../../bench/large-folder.ts';
import { startKubernetesApi } from '../../fakes/kubernetes/server.ts';

const dir = new URL('../../cases/orders-containers-creating', import.meta.url).pathname;
const ruleSet = await loadRules();

/** A triage of a cluster that was opened for it, over HTTP. */
const cold = async (folder: string) => {
  const api = await startKubernetesApi(folder);
  api.faults.push({ resource: '*', latencyMs: 20 });
  try {
    const cluster = await openLive({ kubeconfig: api.kubeconfig }, undefined, 10_000);
    const target = alertTarget(await readAlerts(`${dir}/alert.json`), cluster.identity);
    const { verdict } = await triage(ruleSet, target, cluster.readers());
    return { owner: verdict.owner, requests: api.requests };
  } finally {
    await api.close();
  }
};

describe('a live triage, opening the cluster included', () => {
  it.each([{ size: null }, { size: { nodes: 300, pods: 5000 } }])(
    'needs at most 30 calls, of one page each: $size',
    async ({ size }) => {
      const read = size ? await withLargeFolder(dir, size, cold) : await cold(dir);
      expect(read.owner).toBe('platform');
      expect(read.requests.length).toBeLessThanOrEqual(30);
      expect(read.requests.filter(({ query }) => query.has('continue'))).toEqual([]);
      expect(read.requests.filter(({ url }) => url === '/apis')).toHaveLength(1);
    },
  );

  it('asks no list twice, and none of a kind that the cluster does not serve', async () => {
    const { requests } = await cold(dir);
    const urls = requests.map(({ url }) => url);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.filter((url) => /keda|kueue|cert-manager|argoproj/.test(url))).toEqual([]);
  });
});
