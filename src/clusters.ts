import type { ClusterConfig, Config } from './config/schema.ts';
import type { ClusterIdentity } from './domain/facts.ts';
import type { KubeObject } from './domain/kubernetes.ts';
import { type AwsAccounts, awsAccounts } from './evidence/aws/account.ts';
import { credentialsInSight } from './evidence/aws/credentials.ts';
import { eksAccess } from './evidence/aws/eks-access.ts';
import { awsReader } from './evidence/aws/live.ts';
import type { ClusterAccess } from './evidence/kubernetes/access.ts';
import { liveCluster } from './evidence/kubernetes/live.ts';
import { openSnapshot } from './evidence/kubernetes/snapshot.ts';
import { providerOf, regionOf } from './evidence/kubernetes/snapshot-identity.ts';
import { type Stores, storesOf } from './stores.ts';
import { defaultMaxApiCalls } from './triage/collect/budget.ts';
import type { CloudReader, ClusterReaders } from './triage/ports.ts';
import { resources } from './triage/resources.ts';

/** A cluster that can be read: who it is, and readers of its own for each triage. */
export interface OpenCluster {
  /** Id of the snapshot's case, or the cluster's name. */
  id: string;
  identity: ClusterIdentity;
  /** Its API server did not answer, so who it is was a guess: to be opened again. */
  isUnsure?: boolean;
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
  const accounts = awsAccounts({ timeoutMs: config.triage.readTimeoutMs });
  return {
    async open(name) {
      const settings = config.clusters.find((cluster) => cluster.name === name);
      if (!settings) return null;
      const known = opened.get(name) ?? openConfigured(settings, config, accounts);
      opened.set(name, known);
      try {
        const cluster = await known;
        if (cluster.isUnsure) opened.delete(name);
        return cluster;
      } catch (error) {
        opened.delete(name);
        throw error;
      }
    },
  };
};

const openConfigured = async (settings: ClusterConfig, config: Config, accounts: AwsAccounts): Promise<OpenCluster> => {
  const cluster = settings.snapshot
    ? await openFolder(settings.snapshot)
    : await openLive(
        { ...settings, eksName: settings.eksName ?? settings.name },
        storesOf(settings, config, accounts),
        config.triage.readTimeoutMs,
        accounts,
        config.triage.maxApiCalls,
      );
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

/** How a live cluster and its cloud account are reached; what is left out is read from the cluster. */
type LiveAccess = ClusterAccess &
  Partial<Pick<ClusterConfig, 'eks' | 'eksName' | 'role' | 'externalId' | 'provider' | 'region' | 'account'>>;

/** A live cluster. Its provider and region are read from its nodes. */
export const openLive = async (
  access: LiveAccess,
  stores: Stores = { metrics: null },
  callTimeoutMs = 10_000,
  accounts: AwsAccounts = awsAccounts({ timeoutMs: callTimeoutMs }),
  maxApiCalls = defaultMaxApiCalls,
): Promise<OpenCluster> => {
  // Loaded with the library for kubeconfigs, some 90 MB, where a live cluster is read.
  const { connect } = await import('./evidence/kubernetes/connection.ts');
  const cluster = liveCluster(connect(await wayTo(access, accounts)), { callTimeoutMs });
  const first = cluster.reader();
  const [nodes] = await Promise.all([first.list(resources.nodes, { limit: 5 }), first.serves?.(resources.nodepools)]);
  const objects = nodes.ok ? nodes.value : [];
  const region = access.region ?? regionOf(objects);
  const provider = access.provider ?? (access.eks && !nodes.ok ? 'eks' : providerOf(objects));
  const name = access.context ?? 'in-cluster';
  const cloud = cloudOf({ ...access, provider, region, eksName: access.eksName ?? eksNameOf(name, objects) }, accounts);
  return {
    id: name,
    identity: { name, provider, ...(region && { region }) },
    isUnsure: !nodes.ok && access.provider === undefined,
    readers: () => ({ ...stores, kubernetes: cluster.reader(), cloud: cloud?.() ?? null, maxApiCalls, now: nowIso }),
  };
};

/** An EKS cluster's endpoint and certificate come from EKS itself. Rejects with ClusterAccessError. */
export const wayTo = async (access: LiveAccess, accounts: AwsAccounts): Promise<ClusterAccess> => {
  const { eks, eksName, region } = access;
  if (!eks || !eksName || !region) return access;
  return { bearer: await eksAccess(accounts.account({ ...access, region }), eksName) };
};

/** Readers of the cluster's AWS account, where it has one and credentials were given for it. */
const cloudOf = (access: LiveAccess, accounts: AwsAccounts): (() => CloudReader) | null => {
  const { provider, region, eksName, role, eks } = access;
  if (!provider?.startsWith('eks') && !role) return null;
  if (!region || !eksName || !(role || eks || credentialsInSight(process.env))) return null;
  const account = accounts.account({ ...access, region });
  return () => awsReader(account, eksName);
};

/** eksctl labels its nodes; `aws eks update-kubeconfig` names the context by the cluster's ARN. */
const eksNameOf = (context: string, nodes: KubeObject[]): string =>
  nodes.map((node) => node.metadata.labels?.['alpha.eksctl.io/cluster-name']).find(Boolean) ??
  context.replace(/^arn:.*:cluster\//, '');
