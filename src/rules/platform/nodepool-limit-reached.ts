import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { fullResource } from '../../facts/capacity/pool-limits.ts';
import { candidatePools, misfitsOf, poolNameOf } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isUnscheduled, unschedulableMessage } from '../../facts/pods.ts';
import { parseKarpenterRefusal } from '../../facts/scheduling.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'Pods wait because the NodePool that matches them has reached its spec.limits',
  lookAlikes: [
    '"exceed limits" while status.resources is far below spec.limits: the instance type list was empty, not the limit full',
    'a limit clause of a pool that other clauses exclude for these pods',
    '"no instance type … enough resources or … offering", which Karpenter also says when only the limit is in the way',
  ],
  judge(facts, scope) {
    const waiting = scope.troubledPods.filter(isUnscheduled);
    return facts.all('NodePool').flatMap((pool) => {
      const full = fullResource(pool);
      const refused = full ? waiting.map((pod) => ({ pod, event: refusalBy(facts, pod, pool) })) : [];
      const first = refused.find(({ event }) => event)?.event;
      const silent = waiting.filter((pod) => nowhereElse(facts, pod, pool));
      if (!full || (!first && silent.length === 0)) return [];
      const plain = first && parseKarpenterRefusal(first.message).some((refusal) => refusal.kind === 'limits');
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'pool-limit' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: plain && !heldByOrphans(facts, pool) ? ('direct' as const) : ('derived' as const),
          cause: text(
            `NodePool ${pool.metadata.name} has reached its limit (${full.used} of ${full.limit} ${full.resource}), so Karpenter may not launch another node.`,
          ),
          root: refOf(pool),
          affects: waiting.map(refOf),
          onset: earliest(...refused.map(({ event }) => event?.firstAt)),
          evidence: [
            first ? evidence.event(first) : evidence.condition(silent[0]!, 'PodScheduled'),
            evidence.field(pool, `spec.limits.${full.resource}`),
            evidence.field(pool, `status.resources.${full.resource}`),
          ],
          chain: [
            link(pool, `${full.resource} ${full.used} of ${full.limit}`),
            ...waiting.slice(0, 3).map((pod) => link(pod, 'not scheduled')),
          ],
          nextSteps: [
            text(
              `Raise spec.limits.${full.resource} of NodePool ${pool.metadata.name}, or free what holds it: kubectl get nodeclaims -l karpenter.sh/nodepool=${pool.metadata.name}`,
            ),
          ],
        },
      ];
    });
  },
});

/**
 * Most of what runs on the pool has no controller: something makes single pods, and whether it still wants them all is
 * not in the objects. The limit is then a fact and perhaps not the cause.
 */
const heldByOrphans = (facts: ClusterFacts, pool: KubeObject): boolean => {
  const pods = facts
    .all('Node')
    .filter((node) => poolNameOf(node) === pool.metadata.name)
    .flatMap((node) => facts.podsOn(node.metadata.name))
    .filter((pod) => facts.workloadOf(pod).kind !== 'DaemonSet');
  const orphans = pods.filter((pod) => !pod.metadata.ownerReferences?.length);
  return orphans.length > pods.length / 2;
};

/** Karpenter's events have expired: the scheduler lacks room, and every pool that could help is full. */
const nowhereElse = (facts: ClusterFacts, pod: KubeObject, pool: KubeObject): boolean => {
  const candidates = candidatePools(facts, pod);
  const heard = facts.eventsAbout(pod).some((event) => event.source === 'karpenter');
  return (
    !heard &&
    candidates.includes(pool) &&
    candidates.every((candidate) => fullResource(candidate)) &&
    /\d Insufficient (cpu|memory)/.test(unschedulableMessage(pod))
  );
};

/** Karpenter's refusal of this pod that the pool's limit accounts for; other pools' clauses do not count. */
const refusalBy = (facts: ClusterFacts, pod: KubeObject, pool: KubeObject): KubeEvent | undefined =>
  facts
    .eventsAbout(pod, 'FailedScheduling')
    .filter((event) =>
      parseKarpenterRefusal(event.message).some(
        (refusal) =>
          (refusal.kind === 'limits' || (refusal.kind === 'offering' && /resources/.test(refusal.text))) &&
          (refusal.pool ? refusal.pool === pool.metadata.name : misfitsOf(facts, pod, pool).length === 0),
      ),
    )
    .at(-1);
