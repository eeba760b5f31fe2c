import { writeFile } from 'node:fs/promises';
import { connect } from '../../../src/evidence/kubernetes/connection.ts';
import { type LiveOptions, liveCluster } from '../../../src/evidence/kubernetes/live.ts';
import type { KubernetesReader } from '../../../src/triage/ports.ts';
import { type KubernetesApi, startKubernetesApi } from '../../fakes/kubernetes/server.ts';
import { caseFiles, withFolder } from './fixture.ts';

export interface Setting {
  api: KubernetesApi;
  dir: string;
  reader: KubernetesReader;
  /** Another reader of the same cluster, as a second triage has one. */
  second: KubernetesReader;
}

/** An API server with the fixture's objects; `kubeconfig` may replace the one that works. */
export const withApi = (
  use: (setting: Setting) => Promise<void>,
  options: LiveOptions = {},
  kubeconfig?: (api: KubernetesApi, dir: string) => Promise<object>,
  files: Record<string, unknown> = caseFiles(),
): Promise<void> =>
  withFolder(files, async (dir) => {
    const api = await startKubernetesApi(dir);
    if (kubeconfig) await writeFile(api.kubeconfig, JSON.stringify(await kubeconfig(api, dir)));
    const connection = connect({ kubeconfig: api.kubeconfig });
    try {
      const cluster = liveCluster(connection, options);
      await use({ api, dir, reader: cluster.reader(), second: cluster.reader() });
    } finally {
      connection.close();
      await api.close();
    }
  });
