import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import type { Scope } from '../scope.ts';
import { minutesBetween } from '../time.ts';

/** HPAs that are a subject or scale a workload of the scope. */
export const autoscalersOf = (facts: ClusterFacts, scope: Scope): KubeObject[] =>
  facts.all('HorizontalPodAutoscaler').filter((hpa) => !scope.wide && scope.has(refOf(hpa)));

export const targetOf = (facts: ClusterFacts, hpa: KubeObject): KubeObject | undefined =>
  facts.find(hpa.spec?.scaleTargetRef?.kind ?? 'Deployment', hpa.spec?.scaleTargetRef?.name, hpa.metadata.namespace);

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
