import { describeRef, type KubeObject, refOf } from '../domain/kubernetes.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { isTrue } from '../facts/conditions.ts';
import type { Scope } from '../facts/scope.ts';

/** Who is hurt, in numbers that the objects state themselves. */
export const impactOf = (facts: ClusterFacts, scope: Scope): string => {
  const workloads = scope.workloads.map(replicaLine).filter((line) => line !== '');
  const nodes = facts.all('Node').filter((node) => !isTrue(node, 'Ready'));
  const nodeLine = nodes.length > 0 ? [`${nodes.length} of ${facts.all('Node').length} nodes not Ready`] : [];
  const lines = [...workloads.slice(0, 3), ...(scope.wide || scope.subjectNodes.length > 0 ? nodeLine : [])];
  if (lines.length > 0) return lines.join('; ');
  const troubled = scope.troubledPods.length;
  return troubled > 0 ? `${troubled} of ${scope.pods.length} pods in trouble` : 'no replica or node count shows harm';
};

const replicaLine = (workload: KubeObject): string => {
  const desired = workload.spec?.replicas ?? workload.status?.desiredNumberScheduled;
  if (desired === undefined) return '';
  const ready = workload.status?.readyReplicas ?? workload.status?.numberReady ?? 0;
  return `${describeRef(refOf(workload))}: ${ready} of ${desired} replicas ready`;
};
