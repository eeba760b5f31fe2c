import { describeRef, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { poolOf, waitingFor } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type StuckDrain, stuckDrains, whyBlocked } from '../../facts/nodes/drains.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title:
    'A node that is being removed cannot drain, because a disruption budget or a do-not-disrupt pod allows no eviction; whoever owns that object acts',
  lookAlikes: [
    'DisruptionBlocked on a node that nobody removes: consolidation passes it by, which is harmless',
    'an instance that the cloud does not terminate after the drain ended',
  ],
  judge(facts, scope) {
    const drains = stuckDrains(facts);
    const blockers = new Map<KubeObject, StuckDrain[]>();
    for (const drain of drains)
      for (const object of [...drain.budgets.map((entry) => entry.budget), ...drain.pinned])
        blockers.set(object, [...(blockers.get(object) ?? []), drain]);
    return [...blockers].map(([object, blocked]) => findingOf(facts, scope, object, blocked));
  },
});

const findingOf = (facts: ClusterFacts, scope: Scope, object: KubeObject, drains: StuckDrain[]) => {
  const owner = ownershipOf(facts, object);
  const evidence = cite(owner, facts);
  const nodes = drains.map((drain) => drain.node);
  const since = drains.map((drain) => drain.since).sort()[0]!;
  const held = heldPools(facts, drains);
  const waiting = [...new Set(held.flatMap((pool) => waitingFor(facts, pool)))];
  const isBudget = object.kind === 'PodDisruptionBudget';
  const why = isBudget ? whyBlocked(object) : 'annotation karpenter.sh/do-not-disrupt';
  const pods = isBudget
    ? drains.flatMap((drain) => drain.budgets.filter((entry) => entry.budget === object).flatMap((entry) => entry.pods))
    : [object];
  return {
    mechanism: 'drain-blocked' as const,
    explains: [
      'pool-limit' as const,
      'pending' as const,
      'scheduling' as const,
      'node-churn' as const,
      'rollout' as const,
      'unknown-symptom' as const,
    ],
    owner,
    boundary: waiting.length > 0 ? ('provisioning' as const) : ('config' as const),
    strength: 'direct' as const,
    cause: text(
      `${describeRef(refOf(object))} (${why}) allows no eviction, so node ${nodes.map((node) => node.metadata.name).join(', ')} cannot drain for ${duration(minutesBetween(since, facts.now))}${waiting.length > 0 ? ` and goes on counting against the limit of NodePool ${held.map((pool) => pool.metadata.name).join(', ')} while ${waiting.length} pods wait` : ''}.`,
    ),
    root: refOf(object),
    affects: [...waiting.map(refOf), ...removals(facts, scope, object, drains).map(refOf)],
    onset: since,
    evidence: [
      isBudget ? evidence.field(object, 'spec', undefined, why) : evidence.field(object, 'metadata.annotations'),
      ...(isBudget ? [evidence.field(object, 'status')] : []),
      ...drains
        .flatMap((drain) => drain.events.slice(-2))
        .slice(0, 4)
        .map((event) => evidence.event(event)),
      ...updateErrors(facts).map((error) =>
        evidence.aws('eks.describeUpdate', 'update.errors[].errorCode', error.errorCode, error.errorMessage ?? ''),
      ),
      ...pods.slice(0, 2).map((pod) => evidence.field(pod, 'spec.nodeName')),
      ...drains.flatMap((drain) => (drain.claim ? [evidence.condition(drain.claim, 'Drained')] : [])).slice(0, 2),
      ...held.map((pool) => evidence.field(pool, 'status.resources')),
    ],
    chain: [
      { object: describeRef(refOf(object)), uid: object.metadata.uid, claim: why },
      ...nodes
        .slice(0, 2)
        .map((node) => ({ object: `Node ${node.metadata.name}`, uid: node.metadata.uid, claim: 'cannot drain' })),
      ...waiting.slice(0, 2).map((pod) => ({
        object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
        uid: pod.metadata.uid,
        claim: 'waits for the room it holds',
      })),
    ],
    nextSteps: [
      text(
        isBudget
          ? `Run more replicas than the budget keeps, or relax it: kubectl -n ${object.metadata.namespace} edit pdb ${object.metadata.name}`
          : `Remove the annotation, or let the pod finish: kubectl -n ${object.metadata.namespace} annotate pod ${object.metadata.name} karpenter.sh/do-not-disrupt-`,
      ),
    ],
    contributing:
      owner === 'app' && waiting.length > 0
        ? [
            {
              owner: 'platform' as const,
              action: text('Set terminationGracePeriod on the NodePool so that no budget can hold a node for ever.'),
            },
          ]
        : [],
  };
};

/**
 * What is being removed, where the alert is about that. A pod that happens to run on the node, or that the budget
 * selects, is not harmed by a drain that does not happen.
 */
const removals = (facts: ClusterFacts, scope: Scope, object: KubeObject, drains: StuckDrain[]): KubeObject[] => {
  const kinds = new Set(scope.subjects.map((subject) => subject.kind));
  if (kinds.has('PodDisruptionBudget')) return [object];
  return scope.wide || kinds.has('Node') || kinds.has('NodeClaim') || kinds.has('NodePool')
    ? drains.flatMap((drain) => [
        drain.node,
        ...(drain.claim ? [drain.claim] : []),
        ...[poolOf(facts, drain.claim ?? drain.node)].filter((pool) => pool !== undefined),
      ])
    : [];
};

/** Pools that would be below their limit if the draining nodes did not count any more. */
const heldPools = (facts: ClusterFacts, drains: StuckDrain[]): KubeObject[] =>
  facts.all('NodePool').filter((pool) => {
    const own = drains.filter((drain) => poolOf(facts, drain.claim ?? drain.node) === pool);
    return (
      own.length > 0 &&
      Object.entries<string>(pool.spec?.limits ?? {}).some(
        ([resource, limit]) => quantity(pool.status?.resources?.[resource]) >= 0.8 * quantity(limit),
      )
    );
  });

/** What a managed node group's update says of pods that it could not evict. */
const updateErrors = (facts: ClusterFacts): { errorCode: string; errorMessage?: string }[] =>
  (facts.cloud('eks.describeUpdate')?.update?.errors ?? []).filter((error: any) =>
    /PodEvictionFailure/.test(error.errorCode ?? ''),
  );
