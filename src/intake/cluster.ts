import type { Config } from '../config/schema.ts';

/** What cluster resolution needs of the configuration. */
export type ClusterNaming = Pick<Config, 'clusterLabels' | 'defaultCluster'> & {
  clusters: Pick<Config['clusters'][number], 'name' | 'aliases'>[];
};

/** Cluster of alerts that name none where no setting tells: a person must see them all the same. */
const unnamedCluster = 'unnamed';

/** The configured name behind a name or an alias; a name that is not configured stands for itself. */
export const canonicalCluster = (name: string, { clusters }: ClusterNaming): string =>
  clusters.find((cluster) => cluster.name === name || cluster.aliases.includes(name))?.name ?? name;

/**
 * The cluster an alert is about: the first cluster label present (kube-prometheus leaves `cluster` empty in a single
 * cluster), else the one cluster its sender speaks for, else the default, else the only one configured.
 */
export const resolveCluster = (
  labels: Record<string, string>,
  naming: ClusterNaming,
  speaksFor: string[] | null = null,
): string => {
  const named = naming.clusterLabels.map((label) => labels[label]).find(Boolean);
  const only = naming.clusters.length === 1 ? naming.clusters[0]?.name : undefined;
  const bound = speaksFor?.length === 1 ? speaksFor[0] : undefined;
  return canonicalCluster(named ?? bound ?? naming.defaultCluster ?? only ?? unnamedCluster, naming);
};
