import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import type { Scope } from '../scope.ts';
import { minutesBetween } from '../time.ts';

/** HPAs that are a subject, scale a workload of the scope, or should scale it and name one that is gone. */
export const autoscalersOf = (facts: ClusterFacts, scope: Scope): KubeObject[] =>
  facts
    .all('HorizontalPodAutoscaler')
    .filter(
      (hpa) =>
        !scope.wide &&
        (scope.has(refOf(hpa)) ||
          successorsOf(facts, hpa).some((workload) => scope.workloads.some((own) => sameRef(own, workload)))),
    );

export const targetOf = (facts: ClusterFacts, hpa: KubeObject): KubeObject | undefined =>
  facts.find(hpa.spec?.scaleTargetRef?.kind ?? 'Deployment', hpa.spec?.scaleTargetRef?.name, hpa.metadata.namespace);

const scalableKinds = ['Deployment', 'StatefulSet', 'Rollout'];

/**
 * Workloads that took the place of an HPA's target: the target is gone, they bear its name with a part more, a part
 * less or as another kind, and no autoscaler names them.
 */
export const successorsOf = (facts: ClusterFacts, hpa: KubeObject): KubeObject[] => {
  const { namespace = '' } = hpa.metadata;
  const gone: string | undefined = hpa.spec?.scaleTargetRef?.name;
  if (!gone || targetOf(facts, hpa) || facts.in('Deployment', namespace).length === 0) return [];
  const named = facts
    .in('HorizontalPodAutoscaler', namespace)
    .filter((other) => other !== hpa)
    .map((other) => targetOf(facts, other));
  return scalableKinds
    .flatMap((kind) => facts.in(kind, namespace))
    .filter((workload) => isRenamed(gone, workload.metadata.name) && !named.includes(workload));
};

const isRenamed = (before: string, after: string): boolean =>
  before === after || before.startsWith(`${after}-`) || after.startsWith(`${before}-`) || stem(before) === stem(after);

/** A name without its version or colour: `web-v2`, `web-blue`. */
const stem = (name: string): string => name.replace(/-(?:v?\d+|blue|green|stable|canary|new|old)$/, '');

const sameRef = (a: KubeObject, b: KubeObject): boolean =>
  a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;

export interface ScalingFailure {
  reason: string;
  message: string;
  event?: KubeEvent;
}

/** Why an HPA computes no replicas now: its ScalingActive condition, else its recent events. */
export const scalingFailure = (facts: ClusterFacts, hpa: KubeObject): ScalingFailure | undefined => {
  const active = condition(hpa, 'ScalingActive');
  const event = facts
    .eventsAbout(hpa)
    .filter((entry) =>
      /^Failed(Get\w+Metric|ComputeMetricsReplicas|GetScale)|InvalidSelector|AmbiguousSelector/.test(entry.reason),
    )
    .filter((entry) => minutesBetween(entry.lastAt, facts.now) < 15)
    .at(-1);
  const able = condition(hpa, 'AbleToScale');
  if (able?.status === 'False') return { reason: able.reason ?? '', message: able.message ?? '', event };
  if (active?.status === 'False' && active.reason !== 'ScalingDisabled')
    return { reason: active.reason ?? '', message: active.message ?? '', event };
  return !active && event ? { reason: event.reason, message: event.message, event } : undefined;
};

/** What an HPA measures, as shares of its target: `[1.38]` for 138% of it. */
export const shareOfTarget = (hpa: KubeObject): number[] =>
  (hpa.spec?.metrics ?? []).flatMap((metric: any) => {
    const kind = metric.resource ? 'resource' : metric.containerResource ? 'containerResource' : undefined;
    if (!kind) return [];
    const target = metric[kind].target?.averageUtilization;
    const current = (hpa.status?.currentMetrics ?? []).find((entry: any) => entry[kind]?.name === metric[kind].name)?.[
      kind
    ]?.current?.averageUtilization;
    return target && current ? [current / target] : [];
  });
