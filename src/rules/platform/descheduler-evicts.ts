import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const windowMinutes = 3 * 60;
/** One or two evictions are what a descheduler is for. */
const leastEvictions = 3;

export default rule({
  title: 'The descheduler evicts pods of a workload again and again, faster than they get ready',
  lookAlikes: [
    'a readiness probe that says 503 while a fresh pod warms up: the consequence',
    'Karpenter’s consolidation or a drain: another names itself in the event',
    'a single eviction, after which the pod stays',
  ],
  judge(facts, scope) {
    return scope.wide ? [] : scope.workloads.flatMap((workload) => findingOf(facts, workload));
  },
});

const findingOf = (facts: ClusterFacts, workload: KubeObject): FindingDraft[] => {
  const evictions = podEventsOf(facts, workload, /./).filter(
    (event) =>
      /descheduler/i.test(event.source + event.message) &&
      /evict/i.test(event.message) &&
      minutesBetween(event.lastAt, facts.now) <= windowMinutes,
  );
  if (evictions.length < leastEvictions) return [];
  const descheduler = facts
    .all('Pod')
    .filter((pod) => /descheduler/.test(pod.metadata.name))
    .map((pod) => facts.workloadOf(pod))[0];
  const pods = facts.podsOf(workload);
  const evidence = cite('platform', facts);
  const first = evictions[0]!;
  const reasons = [...new Set(evictions.map((event) => event.reason))];
  return [
    {
      mechanism: 'eviction',
      explains: ['probe', 'application-error', 'rollout', 'dependency', 'load', 'traffic', 'unknown-symptom'],
      owner: 'platform',
      boundary: 'scheduling',
      strength: 'derived',
      cause: text(
        `The descheduler (${reasons.join(', ')}) evicted ${evictions.length} pods of ${nameOf(workload)} in ${duration(minutesBetween(first.firstAt, facts.now))}; each new pod has to start and warm up again.`,
      ),
      root: descheduler ? refOf(descheduler) : refOf(workload),
      affects: [workload, ...pods].map(refOf),
      onset: first.firstAt,
      evidence: [
        ...evictions.slice(0, 1).map((event) => evidence.event(event)),
        ...evictions.slice(-3).map((event) => evidence.event(event)),
        ...pods.slice(0, 2).map((pod) => evidence.field(pod, 'metadata.creationTimestamp')),
      ],
      chain: [
        { object: 'descheduler', claim: `evicts (${reasons.join(', ')})` },
        link(workload, 'has fresh pods all the time'),
      ],
      contributing: [
        {
          owner: 'app',
          action: text(
            `Give ${nameOf(workload)} a PodDisruptionBudget, so that pods which warm up are not joined by more.`,
          ),
        },
      ],
      nextSteps: [
        text(
          'Look at the descheduler’s policy and who changed it: kubectl get configmap -A | grep descheduler; widen the thresholds or exclude the namespace; stop it meanwhile.',
        ),
      ],
    },
  ];
};
