import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../../src/evidence/kubernetes/live.ts';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { resources } from '../../../src/triage/resources.ts';
import { startKubernetesApi } from '../../fakes/kubernetes/server.ts';

const cases = ['orders-containers-creating', 'node-unreachable-pods-linger', 'managed-system-pool-not-created'];

describe.each(cases)('%s, recorded and served', (name) => {
  it('is the same cluster to both readers', async () => {
    const dir = `test/cases/${name}`;
    const snapshot = (await openSnapshot(dir)).kubernetes;
    const api = await startKubernetesApi(dir);
    const connection = connect({ kubeconfig: api.kubeconfig });
    const live = liveCluster(connection, { pageSize: 7 }).reader();
    let objects = 0;
    try {
      for (const resource of Object.values(resources)) {
        const recorded = await snapshot.list(resource, { limit: 50 });
        const served = await live.list(resource, { limit: 50 });
        // What was not collected is unknown offline; a live server knows that there is none.
        if (!recorded.ok && recorded.gap.reason === 'not-collected') continue;
        if (recorded.ok) {
          expect(served).toEqual(recorded);
          objects += recorded.value.length;
        } else {
          expect(served).toMatchObject({ ok: false, gap: { reason: recorded.gap.reason, fix: recorded.gap.fix } });
        }
      }
    } finally {
      connection.close();
      await api.close();
    }
    expect(objects).toBeGreaterThan(20);
  });
});
