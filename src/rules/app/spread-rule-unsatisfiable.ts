import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { requirementsOf } from '../../facts/capacity/pools.ts';
import { relevantRefusals, type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, newerThan, refusalEvidence, waitingChain } from '../waiting.ts';

const topology = /topology spread|anti-affinity|pod affinity rules|free ports for the requested/;
/** A node that is full or closed might have satisfied the rule: then room is what lacks. */
const room =
  /^Insufficient|Too many pods|were unschedulable|exceed max volume|node-affinity|volume node affinity|PersistentVolume's/;

export default rule({
  title: 'The pod’s own spread, affinity or host port rules leave no node for it, although nodes are there',
  lookAlikes: [
    'a zone that lost its nodes',
    'the rule fits a new node that the pool may not make: a limit or a shortage decides',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope)
      .filter((group) => blockedByOwnRules(group))
      .map((group) => findingOf(facts, group));
  },
});

const blockedByOwnRules = (group: WaitingGroup): boolean => {
  const refusals = relevantRefusals(group);
  if (refusals.length > 0)
    return refusals.every((refusal) => refusal.kind === 'topology' || /host ?port/.test(refusal.text));
  if (group.refusals.length > 0) return false;
  return (
    group.clauses.some((clause) => topology.test(clause.reason)) &&
    !group.clauses.some((clause) => room.test(clause.reason))
  );
};

const findingOf = (facts: ClusterFacts, group: WaitingGroup) => {
  const pool = group.candidates[0];
  const { history, change, poolIsNewer } = newerThan(facts, group, pool);
  const nodes = facts.all('Node');
  const lost = nodes.filter((node) => !isTrue(node, 'Ready'));
  const clusterSide = poolIsNewer && minutesBetween(history.since, group.since) > 24 * 60;
  const owner =
    clusterSide || ownershipOf(facts, group.workload) === 'platform' ? ('platform' as const) : ('app' as const);
  const evidence = cite(owner, facts);
  const spec = podSpecOf(group.sample);
  const rules = rulesOf(spec);
  const fresh = minutesBetween(history.since, group.since) < 60;
  const pinned = requirementsOf(group.sample)
    .flat()
    .filter((wish) => /zone|hostname/.test(wish.key))
    .map((wish) => `${wish.key} ${wish.operator} [${(wish.values ?? []).join(' ')}]`);
  return {
    mechanism: clusterSide ? ('pool-mismatch' as const) : ('scheduling' as const),
    explains: ['pending' as const, 'rollout' as const, 'unknown-symptom' as const],
    owner,
    boundary: 'scheduling' as const,
    strength:
      lost.length > 0 ? ('circumstantial' as const) : fresh || clusterSide ? ('direct' as const) : ('derived' as const),
    cause: text(
      `The placement rules of ${nameOf(group.workload)} contradict each other or the nodes: ${rules.join('; ')}${pinned.length > 0 ? `, while it is pinned to ${pinned.join(', ')}` : ''}; none of ${nodes.length} nodes can take ${group.pods.length} waiting pods${clusterSide ? ` since the pool was changed at ${change!.at}` : ''}.`,
    ),
    root: refOf(clusterSide && pool ? pool : group.workload),
    affects: group.pods.map(refOf),
    onset: group.since,
    evidence: [
      ...refusalEvidence(evidence, group),
      ...(spec?.topologySpreadConstraints ? [evidence.field(group.sample, 'spec.topologySpreadConstraints')] : []),
      ...(spec?.affinity ? [evidence.field(group.sample, 'spec.affinity')] : []),
      ...(spec?.nodeSelector ? [evidence.field(group.sample, 'spec.nodeSelector')] : []),
      ...(history.previous
        ? [
            evidence.field(
              history.previous,
              'spec.template.spec.nodeSelector',
              podSpecOf(history.previous)?.nodeSelector ?? 'none',
            ),
          ]
        : []),
    ],
    chain: [
      { object: nameOf(group.workload), uid: group.workload.metadata.uid, claim: rules.join('; ') },
      ...waitingChain(group),
    ],
    contributing: [],
    nextSteps: [
      text(
        `Relax the rule (ScheduleAnyway, preferred anti-affinity, fewer replicas) or roll back: kubectl -n ${group.workload.metadata.namespace} get ${group.workload.kind.toLowerCase()} ${group.workload.metadata.name} -o yaml`,
      ),
    ],
  };
};

const rulesOf = (spec: any): string[] => {
  const spread = (spec?.topologySpreadConstraints ?? [])
    .filter((entry: any) => entry.whenUnsatisfiable !== 'ScheduleAnyway')
    .map((entry: any) => `maxSkew ${entry.maxSkew} over ${entry.topologyKey}`);
  const affinity = (['podAntiAffinity', 'podAffinity'] as const).flatMap((kind) =>
    (spec?.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(
      (term: any) => `required ${kind} per ${term.topologyKey}`,
    ),
  );
  const ports = (spec?.containers ?? []).flatMap((container: any) =>
    (container.ports ?? []).filter((port: any) => port.hostPort).map((port: any) => `host port ${port.hostPort}`),
  );
  const all = [...spread, ...affinity, ...ports];
  return all.length > 0 ? all : ['rules of pods that run there'];
};
