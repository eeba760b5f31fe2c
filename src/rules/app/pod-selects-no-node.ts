import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { type Misfit, misfitsOf, nodeMisfits, poolOf, requirementsOf, zoneLabel } from '../../facts/capacity/pools.ts';
import { hasRun } from '../../facts/capacity/templates.ts';
import { nearestPool, type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isSystemTaint } from '../../facts/nodes/taints.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { duration, minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, newerThan, refusalEvidence, waitingChain } from '../waiting.ts';

/** A template that is older than this and ran before has not caused what began now. */
const newMinutes = 24 * 60;

export default rule({
  title:
    'Pods select nodes that no pool and no node offers, or do not tolerate their taints; the side that changed last acts',
  lookAlikes: [
    'other pools’ clauses in the same message, which were never meant for these pods',
    'a selector that matches a pool which cannot launch just now',
    'a volume’s zone, which the pod did not choose',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const against = obstacle(facts, group);
      return against ? [findingOf(facts, group, against)] : [];
    });
  },
});

interface Obstacle {
  misfits: Misfit[];
  pool?: KubeObject;
}

const talksOfLabels = /affinity\/selector|untolerated taint|taints that the pod|node selector|scheduler-enforced/;

/** Nothing in the cluster fits by labels and taints: the nearest pool, or the nodes, and what stands against the pod. */
const obstacle = (facts: ClusterFacts, group: WaitingGroup): Obstacle | undefined => {
  if (group.candidates.length > 0 || group.workload.kind === 'DaemonSet') return undefined;
  const said =
    group.clauses.some((clause) => talksOfLabels.test(clause.reason)) ||
    group.refusals.some((refusal) => ['unknown-label', 'requirement', 'taint'].includes(refusal.kind));
  if (!said) return undefined;
  const asking = withPlacement(group);
  const nodes = facts.all('Node').map((node) => nodeMisfits(facts, asking, node).filter((entry) => !transient(entry)));
  const former = formerPool(facts, group);
  if (nodes.some((misfits) => misfits.length === 0) && !former) return undefined;
  const nearest = former ?? nearestPool(facts, asking);
  const own = nearest?.misfits ?? [...nodes].sort((a, b) => a.length - b.length)[0] ?? [];
  const misfits = own.length > 0 ? own : statedMisfits(group, nearest?.pool);
  if (misfits.length === 0 || misfits.every((entry) => entry.key === zoneLabel && !asksFor(group, zoneLabel)))
    return undefined;
  return { misfits, pool: nearest?.pool };
};

/**
 * Nodes still bear what the pod selects, but they are full and the pool that made them would make such nodes no more:
 * the pool was changed since.
 */
const formerPool = (facts: ClusterFacts, group: WaitingGroup) => {
  const ruledOut = group.refusals.length > 0 && group.refusals.every((refusal) => ruledOutFor.has(refusal.kind));
  const node = facts
    .all('Node')
    .find((entry) => nodeMisfits(facts, group.sample, entry).every((misfit) => transient(misfit)));
  const pool = ruledOut && node ? poolOf(facts, node) : undefined;
  const misfits = pool ? misfitsOf(facts, group.sample, pool) : [];
  return pool && misfits.length > 0 ? { pool, misfits } : undefined;
};

const ruledOutFor = new Set(['unknown-label', 'requirement', 'taint']);

/** What Karpenter itself names where our reading of the pool finds nothing. */
const statedMisfits = (group: WaitingGroup, pool: KubeObject | undefined): Misfit[] =>
  group.refusals
    .filter((refusal) => refusal.pool === pool?.metadata.name && refusal.key !== undefined)
    .map((refusal) => ({
      kind: 'requirement',
      key: refusal.key!,
      wanted: refusal.key!,
      offered: refusal.text.slice(-120),
    }));

const transient = (misfit: Misfit): boolean => misfit.kind === 'taint' && isSystemTaint(misfit.key);

/** The pod with its template's placement, where a record of the pod lacks it. */
const withPlacement = ({ sample, workload }: WaitingGroup): KubeObject => {
  const asks = (object: KubeObject): boolean => requirementsOf(object).some((term) => term.length > 0);
  const { nodeSelector, affinity } = podSpecOf(workload);
  return asks(sample) || !asks(workload) ? sample : { ...sample, spec: { ...sample.spec, nodeSelector, affinity } };
};

const asksFor = (group: WaitingGroup, key: string): boolean =>
  [group.sample, group.workload].some((object) =>
    requirementsOf(object).some((term) => term.some((wish) => wish.key === key)),
  );

const findingOf = (facts: ClusterFacts, group: WaitingGroup, { misfits, pool }: Obstacle) => {
  const { history, change, poolIsNewer } = newerThan(facts, group, pool);
  const oldTemplate = minutesBetween(history.since, group.since) > newMinutes;
  const nodesReplaced =
    !pool &&
    oldTemplate &&
    facts.all('Node').every((node) => toMs(node.metadata.creationTimestamp) > toMs(history.since));
  const plain = requirementsOf(group.sample).every((term) => term.length === 0);
  const ran = oldTemplate && hasRun(group.workload, history.since);
  const clusterSide =
    poolIsNewer || nodesReplaced || ran || (plain && misfits.every((entry) => entry.kind === 'taint'));
  const owner =
    clusterSide || ownershipOf(facts, group.workload) === 'platform' ? ('platform' as const) : ('app' as const);
  const evidence = cite(owner, facts);
  const wanted = misfits
    .map((entry) => (entry.kind === 'taint' ? `no toleration for ${entry.offered}` : entry.wanted))
    .join(', ');
  const offered = misfits
    .map((entry) => (entry.kind === 'taint' ? entry.offered : `${entry.key}: ${entry.offered}`))
    .join(', ');
  const where = pool ? `the nearest pool, NodePool ${pool.metadata.name}, has ${offered}` : `the nodes have ${offered}`;
  const changed = poolIsNewer
    ? `the pool was changed ${duration(minutesBetween(change!.at, facts.now))} ago${change!.by ? ` by ${change!.by}` : ''}, the template is ${duration(minutesBetween(history.since, facts.now))} old`
    : ran
      ? `the template is ${duration(minutesBetween(history.since, facts.now))} old and has run before`
      : `the template is ${duration(minutesBetween(history.since, facts.now))} old${history.first ? ' and its first' : ''}, and nothing that fits was taken away`;
  return {
    mechanism: clusterSide ? ('pool-mismatch' as const) : ('scheduling' as const),
    explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
    owner,
    boundary: clusterSide ? ('provisioning' as const) : ('scheduling' as const),
    strength: poolIsNewer || (!clusterSide && !oldTemplate) ? ('direct' as const) : ('derived' as const),
    cause: text(
      `${nameOf(group.workload)} asks for nodes with ${wanted || 'nothing special'}; ${where}, so ${group.pods.length} pods fit nowhere (${changed}).`,
    ),
    root: refOf(clusterSide && pool ? pool : group.workload),
    affects: group.pods.map(refOf),
    onset: group.since,
    evidence: [
      ...refusalEvidence(evidence, group),
      evidence.field(
        history.current,
        'spec.template.spec.nodeSelector',
        podSpecOf(history.current)?.nodeSelector ?? {},
      ),
      ...(podSpecOf(group.sample)?.affinity?.nodeAffinity
        ? [evidence.field(group.sample, 'spec.affinity.nodeAffinity')]
        : []),
      ...(misfits.some((entry) => entry.kind === 'taint') ? [evidence.field(group.sample, 'spec.tolerations')] : []),
      ...(pool
        ? [
            evidence.field(pool, 'spec.template.spec.requirements'),
            evidence.field(pool, 'spec.template.metadata.labels'),
          ]
        : []),
      ...(pool && poolIsNewer && change ? [evidence.field(pool, 'metadata.managedFields', change)] : []),
      ...driftEvents(facts, pool).map((event) => evidence.event(event)),
    ],
    chain: [
      clusterSide && pool
        ? { object: `NodePool ${pool.metadata.name}`, uid: pool.metadata.uid, claim: `offers ${offered}` }
        : { object: nameOf(group.workload), uid: group.workload.metadata.uid, claim: `asks for ${wanted}` },
      ...waitingChain(group),
    ],
    contributing: [],
    nextSteps: [
      text(
        clusterSide
          ? `Give the pool back what these pods select (${wanted}), or agree the change with their owner.`
          : `Correct the selector or add the toleration in ${nameOf(group.workload)}: ${wanted}; or ask the platform team for such nodes.`,
      ),
    ],
  };
};

const driftEvents = (facts: ClusterFacts, pool: KubeObject | undefined) =>
  pool
    ? facts.events
        .filter((event) => /Drifted/.test(event.message) && event.regarding.name.startsWith(`${pool.metadata.name}-`))
        .slice(0, 1)
    : [];
