import type { KubeObject } from '../../domain/kubernetes.ts';
import { requestOf } from '../capacity/requests.ts';
import { groupBy } from '../chain.ts';
import type { ClusterFacts } from '../cluster.ts';
import { isBound, isFinished } from '../pods.ts';
import { minutesBetween } from '../time.ts';

/** Pods of one namespace that nothing owns: no controller will ever delete them. */
export interface BareCrowd {
  namespace: string;
  pods: KubeObject[];
  /** Age of the oldest, in minutes. */
  oldestMinutes: number;
  cpu: number;
  memory: number;
  /** Workloads of the namespace that may have made them: named by a label of theirs first. */
  makers: KubeObject[];
}

const least = 5;
const oldMinutes = 6 * 60;
const makerLabels = /created-by|managed-by|launched-by|part-of|orchestrator|controller$/;

/** Old ownerless pods in numbers, by namespace. Static pods belong to their node and do not count. */
export const bareCrowds = (facts: ClusterFacts): BareCrowd[] => {
  const age = (pod: KubeObject): number => minutesBetween(pod.metadata.creationTimestamp, facts.now);
  const bare = facts
    .all('Pod')
    .filter(
      (pod) =>
        isBound(pod) &&
        !isFinished(pod) &&
        !pod.metadata.ownerReferences?.length &&
        !pod.metadata.annotations?.['kubernetes.io/config.mirror'] &&
        age(pod) > oldMinutes,
    );
  return groupBy(bare, (pod) => pod.metadata.namespace ?? '')
    .filter((pods) => pods.length >= least)
    .map((pods) => ({
      namespace: pods[0]!.metadata.namespace ?? '',
      pods,
      oldestMinutes: Math.max(...pods.map(age)),
      cpu: pods.reduce((sum, pod) => sum + requestOf(pod, 'cpu'), 0),
      memory: pods.reduce((sum, pod) => sum + requestOf(pod, 'memory'), 0),
      makers: makersOf(facts, pods),
    }));
};

const makersOf = (facts: ClusterFacts, pods: KubeObject[]): KubeObject[] => {
  const namespace = pods[0]!.metadata.namespace ?? '';
  const named = new Set(
    pods.flatMap((pod) =>
      Object.entries({ ...pod.metadata.labels, ...pod.metadata.annotations })
        .filter(([key]) => makerLabels.test(key))
        .map(([, value]) => value),
    ),
  );
  const all = [...facts.in('Deployment', namespace), ...facts.in('StatefulSet', namespace)];
  const own = all.filter((workload) => named.has(workload.metadata.name));
  return own.length > 0 ? own : all;
};
