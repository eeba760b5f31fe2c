import type { OpenCluster } from './clusters.ts';
import { ClusterFacts } from './facts/cluster.ts';
import type { OwnerDirectory } from './routing/directory.ts';
import { explainOwner, findWorkload } from './routing/explain.ts';
import { unite } from './triage/collect/collection.ts';
import { collectLayer } from './triage/collect/layer.ts';

/**
 * Who owns `namespace/workload` (or `namespace/kind/name`), and every fact that was looked at, as lines. Null: the
 * workload was not found.
 */
export const workloadOwner = async (
  cluster: OpenCluster,
  workload: string,
  directory: OwnerDirectory,
): Promise<string[] | null> => {
  const namespace = workload.split('/')[0];
  const subject = { cluster: cluster.identity.name, kind: 'Namespace', name: namespace, namespace };
  const target = { cluster: cluster.identity, subjects: [subject], alerts: [] };
  const read = await collectLayer('app', target, cluster.readers());
  const facts = new ClusterFacts(unite([read], target, read.readAt));
  const found = findWorkload(facts, workload);
  if (!found) return null;
  const { party, knownBy, looked } = explainOwner({ target: found, facts, directory, alerts: [] });
  return [
    `${workload} belongs to ${party.name}: ${knownBy}`,
    ...looked.map((fact) => `  ${fact.outcome.padEnd(9)} ${fact.where}: ${fact.what}`),
  ];
};
