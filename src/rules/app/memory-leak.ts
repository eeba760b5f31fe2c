import type { Mechanism } from '../../domain/finding.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import {
  hpaOf,
  poolsOfPods,
  reachOf,
  replicaGrowth,
  resourceMetrics,
  trafficGrowth,
} from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { oomKillsOf } from '../../facts/nodes/oom.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import { maxValue, minValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { climbingWorkloads } from '../../facts/workloads/memory.ts';
import { containerOf, rolloutBefore, templateSpecOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Traffic that grew by more than this explains memory by load. */
const flatTraffic = 1.3;
const mebi = 2 ** 20;
const alone: Mechanism[] = [
  'oom',
  'crash',
  'probe',
  'node-pressure',
  'eviction',
  'application-error',
  'unknown-symptom',
];
const throughScaling: Mechanism[] = [
  'autoscaler-growth',
  'pool-limit',
  'pending',
  'scheduling',
  'scaling-limit',
  'quota',
  'node-churn',
  'load',
  'rollout',
];

export default rule({
  title: 'Memory per pod climbs without end at flat traffic; an autoscaler on memory turns it into replicas and nodes',
  lookAlikes: [
    'more requests need more memory: traffic grew as well',
    'a plateau after start (heap, cache): no climb any more',
    'nodes grew although the replicas did not: the pool or the node size changed',
  ],
  judge(facts) {
    return climbingWorkloads(facts).flatMap(({ workload, pods, series }): FindingDraft[] => {
      const traffic = trafficGrowth(facts, workload);
      if (traffic && traffic.factor > flatTraffic) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const kills = pods.flatMap((pod) => oomKillsOf(facts, pod));
      const scaling = memoryScaling(facts, workload, pods);
      const onset = earliest(
        new Date(series[0]!.points[0]![0] * 1000).toISOString(),
        ...kills.map((kill) => kill.finishedAt),
      );
      const rollout = rolloutBefore(facts, workload, onset ?? facts.now, 24 * 60);
      const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
      const growth = scaling ? replicaGrowth(facts, workload) : undefined;
      const pools = growth ? poolsOfPods(facts, pods) : [];
      const from = Math.round(minValue(series[0]!) / mebi);
      const to = Math.round(maxValue(series[0]!) / mebi);
      return [
        {
          mechanism: 'leak',
          explains: growth || scaling ? [...alone, ...throughScaling] : alone,
          owner,
          boundary: 'application',
          strength: traffic && rollout ? 'direct' : 'derived',
          cause: text(
            [
              `Memory of ${nameOf(workload)} only climbs (${from} to ${to} MiB in one pod)`,
              traffic ? ' at flat traffic' : '',
              rollout ? ` since the rollout at ${rollout.at}${changes[0] ? ` (${changes[0]})` : ''}` : '',
              kills.length > 0 ? `; ${kills.length} containers were OOMKilled at ${kills[0]!.limit ?? 'no limit'}` : '',
              growth && scaling ? `; ${scaling.what} answered with ${growth.from} to ${growth.to} replicas` : '',
              pools.length > 0 ? `, which fill NodePool ${pools.map((pool) => pool.metadata.name).join(', ')}` : '',
              '.',
            ].join(''),
          ),
          root: refOf(workload),
          affects: (scaling ? reachOf(facts, workload, pods) : [workload, ...pods]).map(refOf),
          onset: rollout?.at ?? onset,
          evidence: [
            ...series
              .slice(0, 2)
              .map((entry) =>
                evidence.series(
                  entry,
                  `climbs from ${Math.round(minValue(entry) / mebi)} to ${Math.round(maxValue(entry) / mebi)} MiB`,
                ),
              ),
            ...kills
              .slice(0, 1)
              .map((kill) =>
                evidence.field(
                  kill.pod,
                  `status.containerStatuses[${kill.container}].lastState.terminated`,
                  `OOMKilled at ${kill.finishedAt}, limit ${kill.limit}, ${kill.restarts} restarts`,
                ),
              ),
            ...(traffic
              ? [evidence.series(traffic.series, `requests per second × ${traffic.factor.toFixed(2)}: flat`)]
              : []),
            ...(growth?.series ? [evidence.series(growth.series, `replicas ${growth.from} to ${growth.to}`)] : []),
            ...(scaling?.object ? [evidence.field(scaling.object, scaling.path)] : []),
            ...(rollout
              ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; '))]
              : []),
            ...pools.slice(0, 1).map((pool) => evidence.field(pool, 'status.resources')),
          ],
          chain: [
            link(workload, rollout ? `rolled out at ${rollout.at}; memory climbs since` : 'memory climbs'),
            ...(scaling?.object && growth
              ? [link(scaling.object, `scales on memory: ${growth.from} to ${growth.to} replicas`)]
              : []),
            ...pools.map((pool) => link(pool, 'fills with these replicas')),
          ],
          contributing: [],
          nextSteps: [
            ...(rollout
              ? [text(`kubectl rollout undo deployment/${workload.metadata.name} -n ${workload.metadata.namespace}`)]
              : []),
            text(
              `Take a heap or allocation profile of ${nameOf(workload)} and find what is kept; raising limits or pools buys hours only.`,
            ),
          ],
        },
      ];
    });
  },
});

/** The link by which memory becomes replicas or bigger pods; without one, a leak stays in its pods. */
const memoryScaling = (
  facts: ClusterFacts,
  workload: KubeObject,
  pods: KubeObject[],
): { what: string; object?: KubeObject; path: string } | undefined => {
  const hpa = hpaOf(facts, workload);
  if (hpa && resourceMetrics(hpa).includes('memory'))
    return { what: 'the HPA on memory', object: hpa, path: 'spec.metrics' };
  const scaler = facts
    .in('ScaledObject', workload.metadata.namespace ?? '')
    .find((entry) => entry.spec?.scaleTargetRef?.name === workload.metadata.name);
  if (scaler && (scaler.spec?.triggers ?? []).some((trigger: any) => trigger.type === 'memory'))
    return { what: 'KEDA on memory', object: scaler, path: 'spec.triggers' };
  const grown = pods.find((pod) => requestedMore(facts, pod));
  return grown ? { what: 'the VPA', object: grown, path: 'spec.containers[0].resources.requests' } : undefined;
};

/** A pod whose memory request is above its template's: a vertical autoscaler set it. */
const requestedMore = (facts: ClusterFacts, pod: KubeObject): boolean => {
  const template = templateSpecOf(facts, pod);
  return (template?.containers ?? []).some((container: any) => {
    const request = quantity(containerOf(pod, container.name)?.resources?.requests?.memory);
    return request > 1.1 * quantity(container.resources?.requests?.memory);
  });
};
