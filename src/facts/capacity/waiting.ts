import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { unschedulableMessage } from '../pods.ts';
import { type PoolRefusal, parseKarpenterRefusal, parseSchedulerRefusal, type SchedulerClause } from '../scheduling.ts';
import type { Scope } from '../scope.ts';
import { candidatePools, misfitsOf } from './pools.ts';

/** Pods of one workload that no node has taken, with what the scheduler and the autoscalers say of one of them. */
export interface WaitingGroup {
  workload: KubeObject;
  pods: KubeObject[];
  /** The pod whose messages speak for the group. */
  sample: KubeObject;
  message: string;
  clauses: SchedulerClause[];
  /** The event or nothing; the message may come from the condition. */
  schedulerEvent?: KubeEvent;
  karpenterEvent?: KubeEvent;
  /** Karpenter's refusals, all pools. */
  refusals: PoolRefusal[];
  autoscalerEvent?: KubeEvent;
  /** NodePools that could take the pod by labels, zones and taints. */
  candidates: KubeObject[];
  since: string;
}

export const waitingGroups = (facts: ClusterFacts, scope: Scope): WaitingGroup[] => {
  const groups = new Map<KubeObject, KubeObject[]>();
  for (const pod of scope.troubledPods) {
    if (pod.status?.phase !== 'Pending' || pod.spec?.nodeName || pod.metadata.deletionTimestamp) continue;
    const workload = facts.workloadOf(pod);
    const key = [...groups.keys()].find((other) => other.metadata.uid === workload.metadata.uid) ?? workload;
    groups.set(key, [...(groups.get(key) ?? []), pod]);
  }
  return [...groups].map(([workload, pods]) => groupOf(facts, workload, pods));
};

const groupOf = (facts: ClusterFacts, workload: KubeObject, pods: KubeObject[]): WaitingGroup => {
  const said = (pod: KubeObject, source: RegExp): KubeEvent | undefined =>
    facts
      .eventsAbout(pod)
      .filter((event) => source.test(event.source) && /FailedScheduling|ScaleUp/.test(event.reason))
      .at(-1);
  const sample =
    pods.find((pod) => said(pod, /karpenter|eks-auto/i)) ?? pods.find((pod) => unschedulableMessage(pod)) ?? pods[0]!;
  const schedulerEvent = said(sample, /scheduler/);
  const karpenterEvent = said(sample, /karpenter|eks-auto/i);
  const message = unschedulableMessage(sample) || schedulerEvent?.message || '';
  const refusals = karpenterEvent ? parseKarpenterRefusal(karpenterEvent.message) : [];
  return {
    workload,
    pods,
    sample,
    message,
    clauses: parseSchedulerRefusal(message)?.clauses ?? [],
    schedulerEvent,
    karpenterEvent,
    refusals,
    autoscalerEvent: pods.map((pod) => said(pod, /cluster-autoscaler/)).find((event) => event !== undefined),
    candidates: candidatePools(facts, sample).filter((pool) => !excludedBy(refusals, pool)),
    since: pods.map((pod) => pod.metadata.creationTimestamp ?? '').sort()[0]!,
  };
};

/** Karpenter knows its labels better than we do: a pool that it rules out by label or taint is no candidate. */
const excludedBy = (refusals: PoolRefusal[], pool: KubeObject): boolean =>
  refusals.some(
    (refusal) =>
      refusal.pool === pool.metadata.name && ['unknown-label', 'requirement', 'taint'].includes(refusal.kind),
  );

/** Refusals that concern pools which could take the pod: the others were never meant for it. */
export const relevantRefusals = (group: WaitingGroup): PoolRefusal[] =>
  group.refusals.filter(
    (refusal) => !refusal.pool || group.candidates.some((pool) => pool.metadata.name === refusal.pool),
  );

/** The pool that comes nearest to taking the pod: it has the labels that were asked for, and fails in the fewest points. */
export const nearestPool = (facts: ClusterFacts, pod: KubeObject) =>
  facts
    .all('NodePool')
    .map((pool) => ({ pool, misfits: misfitsOf(facts, pod, pool) }))
    .sort(
      (a, b) =>
        unknowns(a.misfits) - unknowns(b.misfits) ||
        a.misfits.length - b.misfits.length ||
        (a.pool.metadata.name < b.pool.metadata.name ? -1 : 1),
    )[0];

const unknowns = (misfits: { kind: string }[]): number =>
  misfits.filter((misfit) => misfit.kind === 'unknown-label').length;
