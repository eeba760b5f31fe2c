import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { isTroubled } from '../pods.ts';

/** A node, its claim, the pods on it and their workloads: whom the node's fault harms. */
export const harmedBy = (facts: ClusterFacts, nodes: KubeObject[]): ObjectRef[] => {
  const pods = nodes.flatMap((node) => facts.podsOn(node.metadata.name));
  const claims = nodes.map((node) => facts.claimOf(node)).filter((claim) => claim !== undefined);
  return [...nodes, ...claims, ...pods, ...pods.filter(isTroubled).map((pod) => facts.workloadOf(pod))].map(refOf);
};

export const names = (nodes: KubeObject[], most = 3): string =>
  nodes
    .slice(0, most)
    .map((node) => node.metadata.name)
    .join(', ') + (nodes.length > most ? ` and ${nodes.length - most} more` : '');
