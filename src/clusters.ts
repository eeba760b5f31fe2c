import type { ClusterConfig, Config } from './config/schema.ts';
import type { ClusterIdentity } from './domain/facts.ts';
import { type ClusterAccess, connect } from './evidence/kubernetes/connection.ts';
import { liveCluster } from './evidence/kubernetes/live.ts';
import { openSnapshot } from './evidence/kubernetes/snapshot.ts';
import { providerOf, regionOf } from './evidence/kubernetes/snapshot-identity.ts';
import { prometheusReader } from './evidence/prometheus/live.ts';
import type { ClusterReaders } from './triage/ports.ts';
import { resources } from './triage/resources.ts';

/** A cluster that can be read: who it is, and readers of its own for each triage. */
export interface OpenCluster {
  /** Id of the snapshot's case, or the cluster's name. */
  id: string;
  identity: ClusterIdentity;
  readers(): ClusterReaders;
}

export interface Clusters {
  /** Null where no cluster of that name is configured. Rejects with the reason where it cannot be opened. */
  open(name: string): Promise<OpenCluster | null>;
}

const nowIso = (): string => new Date().toISOString();

/** Opens the configured clusters on first use and keeps them: their limits and calls in flight are shared. */
export const configuredClusters = (config: Config): Clusters => {
  const opened = new Map<string, Promise<OpenCluster>>();
  return {
    async open(name) {
      const settings = config.clusters.find((cluster) => cluster.name === name);
      if (!settings) return null;
      const known = opened.get(name) ?? openConfigured(settings, config);
      opened.set(name, known);
      try {
        return await known;
      } catch (error) {
        opened.delete(name);
        throw error;
      }
    },
  };
};

const openConfigured = async (settings: ClusterConfig, config: Config): Promise<OpenCluster> => {
  const cluster = settings.snapshot
    ? await openFolder(settings.snapshot)
    : await openLive(settings, settings.prometheusUrl ?? config.prometheusUrl, config.triage.readTimeoutMs);
  const { name, provider, region, account } = settings;
  return {
    ...cluster,
    identity: {
      ...cluster.identity,
      name,
      ...(provider && { provider }),
      ...(region && { region }),
      ...(account && { account }),
    },
  };
};

/** A snapshot folder; its clock stands at the moment it was taken. */
export const openFolder = async (dir: string): Promise<OpenCluster> => {
  const snapshot = await openSnapshot(dir);
  return { id: snapshot.meta.id, identity: snapshot.meta.cluster, readers: () => snapshot };
};

/** A live cluster. Its provider and region are read from its nodes. */
export const openLive = async (
  access: ClusterAccess,
  prometheusUrl: string | undefined,
  callTimeoutMs: number,
): Promise<OpenCluster> => {
  const cluster = liveCluster(connect(access), { callTimeoutMs });
  const metrics = prometheusUrl ? prometheusReader({ url: prometheusUrl, timeoutMs: callTimeoutMs }) : null;
  const nodes = await cluster.reader().list(resources.nodes, { limit: 5 });
  const objects = nodes.ok ? nodes.value : [];
  const region = regionOf(objects);
  const name = access.context ?? 'in-cluster';
  return {
    id: name,
    identity: { name, provider: providerOf(objects), ...(region && { region }) },
    readers: () => ({ kubernetes: cluster.reader(), metrics, cloud: null, now: nowIso }),
  };
};
