import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { isReady } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const windowMinutes = 60;
/** One move is what consolidation is for; the third within the hour finds pods that were moved before. */
const leastMoves = 3;
const voluntary = /\b(underutilized|empty|drifted|consolidat\w+)\b/i;

export default rule({
  title:
    'Karpenter moves a workload again and again: consolidation or drift takes its nodes faster than its pods settle',
  lookAlikes: [
    'a single move of each pod: consolidation as meant',
    'spot reclaims and failed instances: nobody’s choice',
    'an expired node: the pool’s expireAfter',
    'a rollout that makes pods anew',
  ],
  judge(facts, scope) {
    return scope.wide ? [] : scope.workloads.flatMap((workload) => findingOf(facts, workload));
  },
});

const findingOf = (facts: ClusterFacts, workload: KubeObject): FindingDraft[] => {
  const moves = podEventsOf(facts, workload, /^Evicted$/).filter(
    (event) =>
      /karpenter|eks-auto/i.test(event.source) &&
      voluntary.test(event.message) &&
      minutesBetween(event.lastAt, facts.now) <= windowMinutes,
  );
  const pods = facts.podsOf(workload);
  const replicas = workload.spec?.replicas ?? pods.length;
  const again = moves.length > Math.max(replicas, leastMoves - 1);
  const unsettled = moves.length >= leastMoves && pods.filter(isReady).length < replicas;
  if (!again && !unsettled) return [];
  const first = moves[0]!;
  const reason = voluntary.exec(moves.at(-1)!.message)![1]!;
  const pool = poolOf(facts, pods);
  const write = pool && lastWrite(pool);
  const disruptions = facts.events.filter(
    (event) =>
      event.reason === 'DisruptionTerminating' &&
      minutesBetween(event.lastAt, facts.now) <= windowMinutes &&
      event.regarding.kind === 'NodeClaim',
  );
  const drifted = facts.all('NodeClaim').find((claim) => condition(claim, 'Drifted')?.status === 'True');
  const isDrift = /drift/i.test(reason);
  const evidence = cite('platform', facts);
  return [
    {
      mechanism: 'node-churn',
      explains: [
        'eviction',
        'probe',
        'application-error',
        'dependency',
        'rollout',
        'load',
        'traffic',
        'pending',
        'scheduling',
        'unknown-symptom',
      ],
      owner: 'platform',
      boundary: 'provisioning',
      strength: 'derived',
      cause: text(
        `Karpenter (${reason}) evicted ${moves.length} pods of ${nameOf(workload)}, which has ${replicas} replicas, in ${duration(minutesBetween(first.firstAt, facts.now))}${disruptions.length > 0 ? ` and took ${disruptions.length} nodes` : ''}${isDrift && drifted ? `: their claims drifted (${condition(drifted, 'Drifted')?.reason})` : ''}${write ? `; NodePool ${pool.metadata.name} was last written at ${write.time} by ${write.manager}` : ''}.`,
      ),
      root: refOf(pool ?? workload),
      affects: [workload, ...pods].map(refOf),
      onset: first.firstAt,
      evidence: [
        ...sample(moves).map((event) => evidence.event(event)),
        ...disruptions.slice(-2).map((event) => evidence.event(event)),
        ...(isDrift && drifted ? [evidence.condition(drifted, 'Drifted')] : []),
        ...(pool ? [evidence.field(pool, 'spec.disruption')] : []),
      ],
      chain: [
        ...(pool ? [link(pool, `disrupts its nodes (${reason})`)] : []),
        link(workload, `${moves.length} pods moved`),
        ...pods
          .filter((pod) => !isReady(pod))
          .slice(0, 2)
          .map((pod) => link(pod, 'not ready again yet')),
      ],
      contributing: [
        {
          owner: 'app',
          action: text(`Give ${nameOf(workload)} a PodDisruptionBudget that Karpenter has to respect.`),
        },
      ],
      nextSteps: [
        text(
          isDrift
            ? `Pin what drifts (image alias, user data) and roll it in a window: spec.disruption.budgets of NodePool ${pool?.metadata.name ?? '‹pool›'} with reasons [Drifted].`
            : `Raise consolidateAfter and set spec.disruption.budgets of NodePool ${pool?.metadata.name ?? '‹pool›'}; nodes: "0" stops it meanwhile.`,
        ),
      ],
    },
  ];
};

const sample = (events: KubeEvent[]): KubeEvent[] => [...new Set([events[0]!, ...events.slice(-3)])];

const poolOf = (facts: ClusterFacts, pods: KubeObject[]): KubeObject | undefined =>
  pods
    .map((pod) => facts.find('NodePool', facts.nodeOf(pod)?.metadata.labels?.['karpenter.sh/nodepool']))
    .find((pool) => pool !== undefined);
