import type { Series } from '../../domain/facts.ts';
import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { growth, lastValue, minValue, rateCurve, sum } from '../series.ts';
import { minutesBetween } from '../time.ts';

/** The HorizontalPodAutoscaler that scales a workload (KEDA makes one as well). */
export const hpaOf = (facts: ClusterFacts, workload: KubeObject): KubeObject | undefined =>
  facts
    .in('HorizontalPodAutoscaler', workload.metadata.namespace ?? '')
    .find(
      (hpa) =>
        hpa.spec?.scaleTargetRef?.name === workload.metadata.name &&
        (hpa.spec.scaleTargetRef.kind ?? 'Deployment') === workload.kind,
    );

/** Names of resource metrics (`cpu`, `memory`) an HPA follows. */
export const resourceMetrics = (hpa: KubeObject): string[] =>
  (hpa.spec?.metrics ?? []).flatMap((metric: any) => metric.resource?.name ?? metric.containerResource?.name ?? []);

/** Metrics an HPA follows that come from outside the pods' own resources, by name. */
export const foreignMetrics = (hpa: KubeObject): string[] =>
  (hpa.spec?.metrics ?? []).flatMap(
    (metric: any) => metric.external?.metric?.name ?? metric.object?.metric?.name ?? metric.pods?.metric?.name ?? [],
  );

export interface ReplicaGrowth {
  from: number;
  to: number;
  series?: Series;
  /** Scaling events, oldest first. */
  events: KubeEvent[];
}

const scaled = /from (\d+) to (\d+)/;
const resized = /New size: (\d+)/;
/** A growth older than this is the state, not the change. */
const windowMinutes = 8 * 60;

/** How a workload's replicas grew in the last hours, by its metrics or by the controllers' events. */
export const replicaGrowth = (facts: ClusterFacts, workload: KubeObject): ReplicaGrowth | undefined => {
  const { namespace = '', name } = workload.metadata;
  const hpa = hpaOf(facts, workload);
  const series =
    facts.series('kube_deployment_status_replicas', { namespace, deployment: name })[0] ??
    facts.series('kube_deployment_spec_replicas', { namespace, deployment: name })[0] ??
    (hpa &&
      facts.series('kube_horizontalpodautoscaler_status_desired_replicas', {
        namespace,
        horizontalpodautoscaler: hpa.metadata.name,
      })[0]);
  const recent = (event: KubeEvent): boolean => minutesBetween(event.lastAt, facts.now) <= windowMinutes;
  const scalings = facts
    .eventsAbout(workload, 'ScalingReplicaSet')
    .filter((event) => scaled.test(event.message) && !isStepOfRollout(facts, workload, event));
  const resizes = hpa ? facts.eventsAbout(hpa, 'SuccessfulRescale').filter((event) => resized.test(event.message)) : [];
  const events = [...scalings, ...resizes].filter(recent);
  const now = workload.spec?.replicas ?? workload.status?.replicas ?? 0;
  const before = [
    ...(series ? [minValue(recentPoints(series, facts.now))] : []),
    ...scalings.filter(recent).map((event) => Number(scaled.exec(event.message)![1])),
    ...resizes.filter(recent).map((event) => Number(resized.exec(event.message)![1])),
  ].filter((count) => count > 0);
  if (before.length === 0) return undefined;
  const from = Math.min(...before);
  const to = Math.max(now, series ? lastValue(series) : 0);
  return to > from ? { from, to, series, events } : undefined;
};

/** The new set of a rollout is scaled up in steps as the old one is scaled down: no growth. */
const isStepOfRollout = (facts: ClusterFacts, workload: KubeObject, event: KubeEvent): boolean =>
  facts
    .eventsAbout(workload, 'ScalingReplicaSet')
    .some(
      (other) =>
        /Scaled down replica set/.test(other.message) &&
        replicaSetIn(other) !== replicaSetIn(event) &&
        Math.abs(minutesBetween(other.lastAt, event.lastAt)) < stepMinutes,
    );
const stepMinutes = 10;
const replicaSetIn = (event: KubeEvent): string => /replica set (\S+)/.exec(event.message)?.[1] ?? '';

const recentPoints = (series: Series, now: string): Series => {
  const start = Date.parse(now) / 1000 - windowMinutes * 60;
  const points = series.points.filter(([at]) => at >= start);
  return points.length > 0 ? { ...series, points } : series;
};

/** Requests of a workload's service: last quarter over first quarter of the time seen; undefined without data. */
export const trafficGrowth = (
  facts: ClusterFacts,
  workload: KubeObject,
): { factor: number; series: Series } | undefined => {
  const { namespace = '', name } = workload.metadata;
  const all = facts.series('http_requests_total', { namespace });
  const own = all.filter((series) =>
    [series.labels.service, series.labels.app, series.labels.deployment].includes(name),
  );
  const used = own.length > 0 ? own : all.filter((series) => !series.labels.service);
  const first = used[0];
  if (!first) return undefined;
  const factor = growth(rateCurve(sum(used)));
  return Number.isNaN(factor) ? undefined : { factor, series: first };
};

/** NodePools (Karpenter) that hold nodes of these pods. */
export const poolsOfPods = (facts: ClusterFacts, pods: KubeObject[]): KubeObject[] => {
  const names = new Set(
    pods.map((pod) => facts.nodeOf(pod)?.metadata.labels?.['karpenter.sh/nodepool']).filter(Boolean),
  );
  return facts.all('NodePool').filter((pool) => names.has(pool.metadata.name));
};

/** Everything a growing workload can press on: itself, its pods, its autoscaler, their nodes and pools. */
export const reachOf = (facts: ClusterFacts, workload: KubeObject, pods: KubeObject[]): KubeObject[] => {
  const hpa = hpaOf(facts, workload);
  const nodes = [...new Set(pods.map((pod) => facts.nodeOf(pod)).filter((node) => node !== undefined))];
  return [workload, ...(hpa ? [hpa] : []), ...pods, ...nodes, ...poolsOfPods(facts, pods)];
};
