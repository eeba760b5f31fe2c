import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import type { WantedLog } from './collection.ts';

/** Replicas of one workload say the same: a few of each come first, and all that run where the trouble is. */
const logsPerWorkload = 4;

export const spread = (facts: ClusterFacts, pods: KubeObject[], nodes: Set<string>): KubeObject[] => {
  const taken = new Map<KubeObject, number>();
  const isFirst = (pod: KubeObject): boolean => {
    const workload = facts.workloadOf(pod);
    const count = taken.get(workload) ?? 0;
    taken.set(workload, count + 1);
    return nodes.has(pod.spec?.nodeName) || count < logsPerWorkload;
  };
  const first = new Set(pods.filter(isFirst));
  return [...first, ...pods.filter((pod) => !first.has(pod))];
};

/** Each container's log, and the former one's where it restarted. */
export const logsWanted = (pod: KubeObject): WantedLog[] =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap((status: any) => [
    { pod, container: status.name, previous: false },
    ...(status.restartCount > 0 ? [{ pod, container: status.name, previous: true }] : []),
  ]);
