import type { Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { keyOf, refOf } from '../../domain/kubernetes.ts';
import { groupBy } from '../chain.ts';
import type { ClusterFacts } from '../cluster.ts';

const mebi = 2 ** 20;
/** Fewer rises than this are no course (a series may hold each value over several points). */
const minRises = 4;

/** Climbs steadily, perhaps falling back at each restart: what a leak looks like, and a plateau does not. */
export const climbs = (series: Series): boolean => {
  const values = series.points.map(([, value]) => value);
  let [rise, rises, dips] = [0, 0, 0];
  for (let index = 1; index < values.length; index++) {
    const step = values[index]! - values[index - 1]!;
    const restarted = values[index]! < 0.6 * values[index - 1]!;
    if (step > 0) {
      rise += step;
      rises += 1;
    } else if (step < 0 && !restarted) dips += 1;
  }
  const tail = values.slice(-Math.max(3, Math.ceil(values.length / 4)));
  const still = Math.max(...tail) - Math.min(...tail) < 0.03 * Math.max(...tail);
  return rises >= minRises && dips <= 0.2 * rises && rise > Math.max(0.5 * Math.min(...values), 48 * mebi) && !still;
};

interface ClimbingWorkload {
  workload: KubeObject;
  pods: KubeObject[];
  /** The course of one climbing container per pod, the steepest first. */
  series: Series[];
}

/** Workloads most of whose measured pods climb in memory. */
export const climbingWorkloads = (facts: ClusterFacts): ClimbingWorkload[] => {
  const measured = facts.series('container_memory_working_set_bytes').flatMap((series) => {
    const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
    return pod ? [{ series, pod, workload: facts.workloadOf(pod) }] : [];
  });
  return groupBy(measured, (entry) => keyOf(refOf(entry.workload))).flatMap((group) => {
    const climbing = group.filter((entry) => climbs(entry.series));
    if (climbing.length === 0 || climbing.length < group.length / 2) return [];
    const workload = group[0]!.workload;
    return [
      {
        workload,
        pods: facts.podsOf(workload),
        series: climbing.map((entry) => entry.series).sort((a, b) => last(b) - last(a)),
      },
    ];
  });
};

const last = (series: Series): number => series.points.at(-1)?.[1] ?? 0;
