import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { poolOf } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const windowMinutes = 24 * 60;
const forced = /bypasses the PDB|accommodate the terminationTime/;

export default rule({
  title:
    'Karpenter ends a node at its pool’s expireAfter or terminationGracePeriod, and the pod on it in spite of its budget',
  lookAlikes: [
    'a spot reclaim or a failed instance: another event names it',
    'consolidation, which respects budgets and do-not-disrupt',
    'a managed autoscaler (Auto Mode): the pool’s spec is still whoever wrote it',
  ],
  judge(facts, scope) {
    return scope.wide ? [] : scope.workloads.flatMap((workload) => findingOf(facts, workload));
  },
});

const findingOf = (facts: ClusterFacts, workload: KubeObject): FindingDraft[] => {
  const ends = podEventsOf(facts, workload, /^(Disrupted|Evicted)$/).filter(
    (event) => forced.test(event.message) && minutesBetween(event.lastAt, facts.now) <= windowMinutes,
  );
  const end = ends.at(-1);
  if (!end) return [];
  const onNode = nodeEvents(facts, end);
  const why = onNode.map((event) => /Disrupting Node: (\w+)/.exec(event.message)?.[1]).find(Boolean);
  const node = facts.podsOf(workload).map((pod) => facts.nodeOf(pod))[0];
  const pool = node && poolOf(facts, facts.claimOf(node) ?? node);
  const write = pool && lastWriter(pool, 'f:spec');
  const { expireAfter, terminationGracePeriod } = pool?.spec?.template?.spec ?? {};
  const evidence = cite('platform', facts);
  return [
    {
      mechanism: 'node-removed',
      explains: ['eviction', 'application-error', 'probe', 'rollout', 'crash', 'job', 'unknown-symptom'],
      owner: 'platform',
      boundary: 'provisioning',
      strength: pool ? 'derived' : 'circumstantial',
      cause: text(
        `A node of ${nameOf(workload)} was ended${why ? ` (${why})` : ''} and its pod ${end.regarding.name} deleted past its budget at ${end.lastAt}${pool ? `: ${nameOf(pool)} has expireAfter ${expireAfter ?? 'default'} and terminationGracePeriod ${terminationGracePeriod ?? 'unset'}` : ''}${write ? `, written by ${write.manager} at ${write.time}` : ''}.`,
      ),
      root: pool ? refOf(pool) : refOf(workload),
      affects: [workload, ...facts.podsOf(workload)].map(refOf),
      onset: onNode[0]?.firstAt ?? end.firstAt,
      evidence: [
        ...ends.slice(-2).map((event) => evidence.event(event)),
        ...onNode.slice(-3).map((event) => evidence.event(event)),
        ...(pool
          ? [
              evidence.field(pool, 'spec.template.spec.expireAfter'),
              evidence.field(pool, 'spec.template.spec.terminationGracePeriod'),
            ]
          : []),
        ...(write ? [evidence.field(pool!, 'metadata.managedFields', write)] : []),
      ],
      chain: [
        ...(pool ? [link(pool, `expireAfter ${expireAfter ?? 'default'}`)] : []),
        link(workload, 'loses its pod in spite of budget and annotation'),
      ],
      nextSteps: [
        text(
          `Give the pool that runs such work a longer life: kubectl get nodepool ${pool?.metadata.name ?? ''} -o yaml (expireAfter, terminationGracePeriod), or move the work to a pool without expiry.`,
        ),
      ],
    },
  ];
};

/** What was said of the node: it is gone, so only the time by which its pods had to go joins the two. */
const nodeEvents = (facts: ClusterFacts, end: KubeEvent): KubeEvent[] => {
  const by = /terminationTime (\S+Z)/.exec(end.message)?.[1];
  const told = facts.events.find(
    (event) => event.regarding.kind === 'Node' && by !== undefined && event.message.includes(by),
  );
  return told
    ? facts.events.filter((event) => event.regarding.kind === 'Node' && event.regarding.name === told.regarding.name)
    : [];
};
