import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeMisfits } from '../../facts/capacity/pools.ts';
import { amount, requestedResources, requestOf } from '../../facts/capacity/requests.ts';
import { hasRun } from '../../facts/capacity/templates.ts';
import { relevantRefusals, type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { largestOf, typesOfPool } from '../../facts/nodes/instance-types.ts';
import { isSystemTaint } from '../../facts/nodes/taints.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, newerThan, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title: 'A pod asks for more than any machine that may be made for it; the side that changed last acts',
  lookAlikes: [
    '“had enough resources or had a required offering”: the text alone does not say which of both',
    'nodes that are full while the pool may make more',
    'a pool whose types were cut while the request stayed',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const excess = excessOf(facts, group);
      return excess ? [findingOf(facts, group, excess)] : [];
    });
  },
});

export interface Excess {
  resource: string;
  asked: number;
  /** The most that one machine has; undefined where only the controller's text says it is too much. */
  most?: number;
  pool?: KubeObject;
}

/** The resource that no machine has enough of, from Karpenter's words, the pool's types, or the nodes that exist. */
const excessOf = (facts: ClusterFacts, group: WaitingGroup): Excess | undefined => {
  if (group.workload.kind === 'DaemonSet') return undefined;
  const refusals = relevantRefusals(group);
  const pool = group.candidates[0];
  const byTypes = group.candidates.length > 0 ? overTypes(group) : undefined;
  const lacks = group.clauses.some((clause) => clause.reason === `Insufficient ${byTypes?.resource}`);
  const said = refusals.some((refusal) => refusal.kind === 'resources' || refusal.kind === 'offering');
  // Karpenter's events last an hour; the scheduler's condition and the pool's types remain.
  if (byTypes && (said || (!group.karpenterEvent && lacks))) return byTypes;
  const plain =
    refusals.length > 0 && refusals.every((refusal) => refusal.kind === 'resources' && !/offering/.test(refusal.text));
  if (plain) {
    const resource = heaviest(facts, group);
    return resource ? { resource, asked: requestOf(group.sample, resource), pool } : undefined;
  }
  if (group.refusals.length > 0 || group.candidates.length > 0) return undefined;
  return overNodes(facts, group);
};

const overTypes = (group: WaitingGroup): Excess | undefined => {
  const largest = group.candidates.map((pool) => ({ pool, size: largestOf(pool) }));
  if (largest.some(({ size }) => size === undefined)) return undefined;
  for (const resource of ['memory', 'cpu'] as const) {
    const best = largest.sort((a, b) => b.size![resource] - a.size![resource])[0]!;
    const asked = requestOf(group.sample, resource);
    if (asked >= best.size![resource]) return { resource, asked, most: best.size![resource], pool: best.pool };
  }
  return undefined;
};

/** Without pools that make nodes of any size, the nodes that fit by labels are all there can be. */
const overNodes = (facts: ClusterFacts, group: WaitingGroup): Excess | undefined => {
  const fitting = facts
    .all('Node')
    .filter((node) =>
      nodeMisfits(facts, group.sample, node).every((entry) => entry.kind === 'taint' && isSystemTaint(entry.key)),
    );
  if (fitting.length === 0) return undefined;
  return group.clauses
    .map((clause) => /^Insufficient (\S+)/.exec(clause.reason)?.[1])
    .filter((resource) => resource !== undefined)
    .map((resource) => ({
      resource,
      asked: requestOf(group.sample, resource),
      most: Math.max(...fitting.map((node) => quantity(node.status?.allocatable?.[resource]) || 0)),
    }))
    .find(({ asked, most }) => asked > most && most > 0);
};

/** The resource that exceeds the largest node most. */
const heaviest = (facts: ClusterFacts, group: WaitingGroup): string | undefined =>
  requestedResources(group.sample)
    .map((resource) => {
      const most = Math.max(
        ...facts.all('Node').map((node) => quantity(node.status?.allocatable?.[resource]) || 0),
        1e-9,
      );
      return { resource, ratio: requestOf(group.sample, resource) / most };
    })
    .sort((a, b) => b.ratio - a.ratio)[0]?.resource;

const findingOf = (facts: ClusterFacts, group: WaitingGroup, { resource, asked, most, pool }: Excess) => {
  const { history, change, poolIsNewer } = newerThan(facts, group, pool);
  const before = history.previous ? requestOf(history.previous, resource) : undefined;
  const inTemplate = requestOf(history.current, resource);
  const grew = before !== undefined && inTemplate > before;
  const injected = inTemplate > 0 && asked > inTemplate * 1.5;
  const ran = minutesBetween(history.since, group.since) > 24 * 60 && hasRun(group.workload, history.since);
  const clusterSide = (poolIsNewer || ran) && !grew && !injected;
  const owner =
    clusterSide || ownershipOf(facts, group.workload) === 'platform' ? ('platform' as const) : ('app' as const);
  const evidence = cite(owner, facts);
  const story = clusterSide
    ? `${change ? `the pool was changed at ${change.at}` : 'it ran before'}, the request was not changed`
    : injected
      ? `its template asks for ${amount(resource, inTemplate)}; what raised it is in the pod`
      : grew
        ? `the revision before asked for ${amount(resource, before)}`
        : history.first
          ? 'it is its first revision'
          : 'the request is not new';
  return {
    mechanism: clusterSide ? ('pool-mismatch' as const) : ('scheduling' as const),
    explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
    owner,
    boundary: clusterSide ? ('provisioning' as const) : ('config' as const),
    strength: grew || history.first || poolIsNewer ? ('direct' as const) : ('derived' as const),
    cause: text(
      `${nameOf(group.workload)} asks for ${amount(resource, asked)} of ${resource} per pod, more than ${most ? `the ${amount(resource, most)} of the largest machine` : 'any machine'}${pool ? ` of NodePool ${pool.metadata.name}` : ''} (${story}); ${group.pods.length} pods wait.`,
    ),
    root: refOf(clusterSide && pool ? pool : group.workload),
    affects: group.pods.map(refOf),
    onset: group.since,
    evidence: [
      evidence.field(
        history.current,
        `spec.template.spec.containers[].resources.requests.${resource}`,
        amount(resource, inTemplate || asked),
      ),
      ...(history.previous
        ? [
            evidence.field(
              history.previous,
              `spec.template.spec.containers[].resources.requests.${resource}`,
              amount(resource, before!),
            ),
          ]
        : []),
      ...refusalEvidence(evidence, group),
      ...(pool
        ? [evidence.field(pool, 'spec.template.spec.requirements'), evidence.field(pool, 'status.resources')]
        : []),
      ...(change && pool ? [evidence.field(pool, 'metadata.managedFields', change)] : []),
    ],
    chain: [
      {
        object: nameOf(group.workload),
        uid: group.workload.metadata.uid,
        claim: `${amount(resource, asked)} of ${resource} per pod`,
      },
      ...waitingChain(group),
    ],
    contributing: [],
    nextSteps: [
      text(
        clusterSide
          ? `Give NodePool ${pool?.metadata.name} types with at least ${amount(resource, asked)} of ${resource} again (it lists ${pool ? typesOfPool(pool).join(', ') || 'none by name' : 'none'}).`
          : `Check whether ${amount(resource, asked)} is meant; correct the request or roll back: kubectl -n ${group.workload.metadata.namespace} rollout undo ${group.workload.kind.toLowerCase()}/${group.workload.metadata.name}`,
      ),
    ],
  };
};
