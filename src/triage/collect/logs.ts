import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import type { WantedLog } from './collection.ts';

/** A log, and whether something points at its pod; the others may tell something by chance. */
export type RankedLog = WantedLog & { isTelling: boolean };

/** Replicas of one workload say the same: so many of each come first, then those of the others. */
const logsPerWorkload = 4;
const later = 100;

/**
 * Logs of these pods in the order in which they would tell most: the lowest rank first, and of pods of one rank the
 * word of each before the second word of any.
 */
export const logsOf = (
  facts: ClusterFacts,
  pods: KubeObject[],
  rank: (pod: KubeObject) => number,
  isSpread: (pod: KubeObject) => boolean,
  isTelling: (pod: KubeObject) => boolean,
): RankedLog[] => {
  const taken = new Map<KubeObject, number>();
  return pods
    .map((pod) => ({ pod, rank: rank(pod) }))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ pod, rank }) => {
      const workload = facts.workloadOf(pod);
      const count = taken.get(workload) ?? 0;
      taken.set(workload, count + 1);
      const order = rank + (isSpread(pod) && count >= logsPerWorkload ? later : 0);
      return logsWanted(pod).map(({ turn, ...log }) => ({ log, order, count, turn }));
    })
    .sort((a, b) => a.order - b.order || a.turn - b.turn || a.count - b.count)
    .map(({ log }) => ({ ...log, isTelling: isTelling(log.pod) }));
};

/**
 * Each container's log, and the former one's where it restarted: that one first, since it holds the last words. While a
 * container waits to be started again, both are the same.
 */
const logsWanted = (pod: KubeObject): (WantedLog & { turn: number })[] =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
    .filter((status: any) => status.restartCount > 0 || !status.state?.waiting || status.lastState?.terminated)
    .flatMap((status: any) => {
      const hasFormer = status.restartCount > 0;
      const isSound = status.ready || status.state?.terminated?.exitCode === 0;
      return [
        { pod, container: status.name, previous: false, turn: hasFormer ? 2 : isSound ? 1 : 0 },
        ...(hasFormer ? [{ pod, container: status.name, previous: true, turn: 0 }] : []),
      ];
    });
