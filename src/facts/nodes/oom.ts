import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { isTrue } from '../conditions.ts';
import { containerStatuses, isReady } from '../pods.ts';
import { firstValue, lastValue } from '../series.ts';
import { minutesBetween } from '../time.ts';
import { containerOf } from '../workloads/workloads.ts';

/** One container's last kill by the kernel for memory. */
export interface OomKill {
  pod: KubeObject;
  container: string;
  restarts: number;
  finishedAt: string;
  /** Memory limit in the running pod; undefined where it has none. */
  limit?: string;
  request?: string;
}

/** A kill older than this says nothing about an incident of now, unless the container goes on dying. */
const recentMinutes = 6 * 60;
/** A single kill that the pod recovered from soon stops mattering. */
const singleMinutes = 60;

/** The kernel's counter grew: under cgroup v1 a killed child leaves its parent to end with `Error`. */
const countsOom = (facts: ClusterFacts, pod: KubeObject, container: string): boolean =>
  facts
    .series('container_oom_events_total', {
      namespace: pod.metadata.namespace ?? '',
      pod: pod.metadata.name,
      container,
    })
    .some((series) => lastValue(series) > (series.points.length > 1 ? firstValue(series) : 0));

export const oomKillsOf = (facts: ClusterFacts, pod: KubeObject): OomKill[] =>
  containerStatuses(pod).flatMap((status) => {
    const ends = [status.state?.terminated, status.lastState?.terminated];
    const killed =
      ends.find((end) => end?.reason === 'OOMKilled') ??
      ends.find((end) => end?.exitCode === 137 && end.reason === 'Error' && countsOom(facts, pod, status.name));
    const recovered = isReady(pod) && (status.restartCount ?? 0) < 3;
    if (!killed || minutesBetween(killed.finishedAt, facts.now) > (recovered ? singleMinutes : recentMinutes))
      return [];
    const resources = containerOf(pod, status.name)?.resources ?? {};
    return [
      {
        pod,
        container: status.name,
        restarts: status.restartCount ?? 0,
        finishedAt: killed.finishedAt,
        limit: resources.limits?.memory ?? pod.spec?.resources?.limits?.memory,
        request: resources.requests?.memory,
      },
    ];
  });

/** The kernel's own word that the node, not one container, ran out of memory. */
export const systemOomOf = (facts: ClusterFacts, nodeName: string | undefined): KubeEvent[] =>
  nodeName
    ? facts
        .eventsOf({ kind: 'Node', name: nodeName })
        .filter((event) => /SystemOOM/.test(event.reason) || /System OOM encountered/.test(event.message))
    : [];

export const nodeIsShort = (facts: ClusterFacts, pod: KubeObject): boolean => {
  const node = facts.nodeOf(pod);
  return (node !== undefined && isTrue(node, 'MemoryPressure')) || systemOomOf(facts, pod.spec?.nodeName).length > 0;
};
