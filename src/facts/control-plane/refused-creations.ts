import type { Evidence } from '../../domain/evidence.ts';
import { type KubeEvent, type KubeObject, keyOf, refOf } from '../../domain/kubernetes.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import type { Scope } from '../scope.ts';
import { minutesBetween } from '../time.ts';
import { revisionsOf } from '../workloads/workloads.ts';

/** The API server's refusal to create a workload's pod: there is no Pod to look at. */
export interface RefusedCreation {
  workload: KubeObject;
  /** The ReplicaSet, Job, DaemonSet or StatefulSet whose controller was refused. */
  creator: KubeObject;
  text: string;
  /** First time it was seen, ISO 8601. */
  at: string;
  event?: KubeEvent;
}

/** A refusal not repeated for so long is over, or the pods came to be. */
const currentMinutes = 60;

export const refusedCreations = (facts: ClusterFacts, scope: Scope): RefusedCreation[] =>
  scope.workloads.flatMap((workload) =>
    [workload, ...facts.childrenOf(workload), ...revisionsOf(facts, workload)]
      .filter((object, index, all) => object.kind !== 'Pod' && all.indexOf(object) === index)
      .flatMap((creator) => refusalsOf(facts, workload, creator)),
  );

/** The same over all namespaces: who else is refused. */
export const refusedEverywhere = (facts: ClusterFacts): RefusedCreation[] => {
  const seen = new Map<string, RefusedCreation>();
  for (const event of facts.events.filter(isRefusal)) {
    const creator = facts.resolve(event.regarding);
    if (!creator || !isCurrent(facts, event)) continue;
    const workload = facts.workloadOf(creator);
    seen.set(keyOf(refOf(workload)), { workload, creator, text: event.message, at: event.firstAt, event });
  }
  return [...seen.values()];
};

const isRefusal = (event: KubeEvent): boolean =>
  event.reason === 'FailedCreate' && /forbidden|denied|error|invalid|violates|not found|failed/i.test(event.message);

const isCurrent = (facts: ClusterFacts, event: KubeEvent): boolean =>
  minutesBetween(event.lastAt, facts.now) <= currentMinutes;

const refusalsOf = (facts: ClusterFacts, workload: KubeObject, creator: KubeObject): RefusedCreation[] => {
  const events = facts.eventsAbout(creator).filter((event) => isRefusal(event) && isCurrent(facts, event));
  if (events.length > 0)
    return events.map((event) => ({ workload, creator, text: event.message, at: event.firstAt, event }));
  const failure = condition(creator, 'ReplicaFailure');
  return failure?.status === 'True' && failure.message
    ? [{ workload, creator, text: failure.message, at: failure.lastTransitionTime ?? facts.now }]
    : [];
};

export const citeRefusal = (evidence: Cite, refused: RefusedCreation): Evidence =>
  refused.event ? evidence.event(refused.event) : evidence.condition(refused.creator, 'ReplicaFailure');

/** When the pod template that is refused came into being, ISO 8601. */
export const templateBornAt = (refused: RefusedCreation): string =>
  refused.creator.metadata.creationTimestamp ?? refused.workload.metadata.creationTimestamp ?? '';
