import { configuredClusters, type OpenCluster, openFolder, openLive } from '../clusters.ts';
import { prometheusReader } from '../evidence/prometheus/live.ts';
import { OperatorError } from './operator-error.ts';
import { readConfig } from './setup.ts';
import { asOperatorError } from './snapshot-errors.ts';

/** The ways in which a command names a cluster. */
export interface ClusterChoice {
  cluster?: string;
  snapshot?: string;
  context?: string;
  kubeconfig?: string;
  prometheus?: string;
}

/** Longest wait for one call to a live cluster. */
const liveReadTimeoutMs = 10_000;

/** Opens the cluster that the options name. Throws OperatorError where they name none, several, or an unknown one. */
export const openCluster = async (choice: ClusterChoice): Promise<OpenCluster> => {
  const { cluster, snapshot, context, kubeconfig, prometheus } = choice;
  const named = [cluster, snapshot, context ?? kubeconfig].filter((way) => way !== undefined);
  if (named.length !== 1)
    throw new OperatorError(
      'say which cluster, in one way: --cluster NAME, --context NAME, --kubeconfig FILE or --snapshot DIR',
    );
  if (snapshot) return openFolder(snapshot).catch(asOperatorError);
  const metrics = prometheus ? prometheusReader({ url: prometheus, timeoutMs: liveReadTimeoutMs }) : null;
  if (!cluster) return openLive({ context, kubeconfig }, { metrics }, liveReadTimeoutMs).catch(asOperatorError);
  const config = readConfig();
  const opened = await configuredClusters(config).open(cluster).catch(asOperatorError);
  if (opened) return opened;
  const known = config.clusters.map(({ name }) => name).join(', ');
  throw new OperatorError(`no cluster "${cluster}" in faultline.yaml; it has: ${known || 'none'}`);
};
