import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { isFinished } from '../pods.ts';
import { selects } from '../selectors.ts';
import { earliest, minutesBetween } from '../time.ts';

/** A node that somebody is emptying and that does not get empty. */
export interface StuckDrain {
  node: KubeObject;
  claim?: KubeObject;
  since: string;
  /** Budgets that allow no eviction of a pod that is still there. */
  budgets: { budget: KubeObject; pods: KubeObject[] }[];
  /** Pods that forbid their own disruption by annotation. */
  pinned: KubeObject[];
  events: KubeEvent[];
}

/** A drain takes minutes by nature: graceful pods, a rolling budget. */
const patienceMinutes = 15;

const drainTaint = /^(karpenter\.sh\/(disrupted|disruption)|ToBeDeletedByClusterAutoscaler)$/;
const drainReason =
  /^(FailedDraining|DisruptionBlocked|FailedTermination|EvictionBlocked|ScaleDownFailed|CordonAndDrainError|PodEvictionFailure|NodeTerminationFailure)$/;

/** Nodes whose removal began more than a quarter of an hour ago and has not ended. */
export const stuckDrains = (facts: ClusterFacts): StuckDrain[] =>
  facts.all('Node').flatMap((node) => {
    const claim = facts.claimOf(node);
    const events = facts.eventsAbout(node).filter((event) => drainReason.test(event.reason));
    const failing = events.filter((event) => event.reason !== 'DisruptionBlocked');
    const taint = (node.spec?.taints ?? []).find((entry: any) => drainTaint.test(entry.key));
    const begun =
      node.metadata.deletionTimestamp ??
      claim?.metadata.deletionTimestamp ??
      (taint ? (taint.timeAdded ?? earliest(...failing.map((event) => event.firstAt))) : undefined) ??
      (node.spec?.unschedulable
        ? (earliest(...failing.map((event) => event.firstAt)) ?? cordonedFor(facts, node))
        : undefined);
    if (!begun || minutesBetween(begun, facts.now) < patienceMinutes) return [];
    const pods = facts
      .podsOn(node.metadata.name)
      .filter((pod) => !isFinished(pod) && facts.ownerOf(pod)?.kind !== 'DaemonSet');
    const budgets = blockingBudgets(facts, pods, [...events, ...pods.flatMap((pod) => facts.eventsAbout(pod))]);
    const pinned = pods.filter((pod) => pod.metadata.annotations?.['karpenter.sh/do-not-disrupt'] === 'true');
    return [{ node, claim, since: begun, budgets, pinned, events }];
  });

/** A cordon counts as a drain where an upgrade is on its way: another node of newer version, or an update that says so. */
const cordonedFor = (facts: ClusterFacts, node: KubeObject): string | undefined => {
  const version = (object: KubeObject): string => object.status?.nodeInfo?.kubeletVersion ?? '';
  const newer = facts
    .all('Node')
    .some((other) => version(other).localeCompare(version(node), 'en', { numeric: true }) > 0);
  const failedUpdate = /PodEvictionFailure/.test(JSON.stringify(facts.cloud('eks.describeUpdate') ?? ''));
  const taint = (node.spec?.taints ?? []).find((entry: any) => entry.key === 'node.kubernetes.io/unschedulable');
  return newer || failedUpdate ? taint?.timeAdded : undefined;
};

/** Budgets that the events name, else those that select a pod there and allow nothing. */
const blockingBudgets = (facts: ClusterFacts, pods: KubeObject[], events: KubeEvent[]): StuckDrain['budgets'] => {
  const text = events.map((event) => event.message).join('\n');
  const named = [...text.matchAll(/PodDisruptionBudget=\[?"?([\w.-]+)\/([\w.-]+)/g)].map(
    (match) => `${match[1]}/${match[2]}`,
  );
  return facts
    .all('PodDisruptionBudget')
    .map((budget) => ({ budget, pods: pods.filter((pod) => covers(budget, pod)) }))
    .filter(
      ({ budget, pods: covered }) =>
        covered.length > 0 &&
        ((budget.status?.disruptionsAllowed ?? 1) === 0 ||
          named.includes(`${budget.metadata.namespace}/${budget.metadata.name}`)),
    );
};

const covers = (budget: KubeObject, pod: KubeObject): boolean =>
  budget.metadata.namespace === pod.metadata.namespace &&
  budget.spec?.selector !== undefined &&
  selects(budget.spec.selector, pod.metadata.labels);

/** In words, why a budget can never allow an eviction, or that it just does not now. */
export const whyBlocked = (budget: KubeObject): string => {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const { expectedPods, currentHealthy } = budget.status ?? {};
  const rule = minAvailable !== undefined ? `minAvailable ${minAvailable}` : `maxUnavailable ${maxUnavailable ?? 1}`;
  const healthy = currentHealthy !== undefined ? `, ${currentHealthy} of ${expectedPods} pods healthy` : '';
  return `${rule}${healthy}, disruptionsAllowed ${budget.status?.disruptionsAllowed ?? 'unknown'}`;
};
