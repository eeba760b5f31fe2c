import { expect, it } from 'vitest';
import { configuredClusters } from '../src/clusters.ts';
import { configSchema } from '../src/config/schema.ts';
import { startKubernetesApi } from './fakes/kubernetes/server.ts';
import { status } from './fakes/kubernetes/status.ts';

const dir = new URL('./cases/orders-containers-creating', import.meta.url).pathname;

it('a cluster whose API server is away at first is looked at again, so that its vendor is not a guess', async () => {
  const api = await startKubernetesApi(dir);
  try {
    const clusters = configuredClusters(
      configSchema.parse({ clusters: [{ name: 'prod', kubeconfig: api.kubeconfig }] }),
    );
    api.faults.push({ resource: 'nodes', times: 1, reply: status(503, 'ServiceUnavailable', 'starting') });
    expect((await clusters.open('prod'))?.identity.provider).toBe('self');
    const opened = await clusters.open('prod');
    expect(opened?.identity.provider).toBe('eks');
    expect(await clusters.open('prod')).toBe(opened);
  } finally {
    await api.close();
  }
});
