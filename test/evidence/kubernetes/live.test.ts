import { connect } from '../../../src/evidence/kubernetes/connection.ts';
import { liveCluster } from '../../../src/evidence/kubernetes/live.ts';
import { startKubernetesApi } from '../../fakes/kubernetes/server.ts';
import { conformance } from './conformance.ts';

conformance('live reader', async (dir, callTimeoutMs, use) => {
  const api = await startKubernetesApi(dir);
  const connection = connect({ kubeconfig: api.kubeconfig });
  try {
    await use(liveCluster(connection, { callTimeoutMs, pageSize: 2 }).reader());
  } finally {
    connection.close();
    await api.close();
  }
});
