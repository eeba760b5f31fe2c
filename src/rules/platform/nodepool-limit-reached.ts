import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isUnscheduled } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { parseKarpenterRefusal } from '../../facts/scheduling.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Below this share of its limit a pool can still take a node of the usual size: the text must mean something else. */
const fullShare = 0.8;

export default rule({
  title: 'Pods wait because the NodePool that matches them has reached its spec.limits',
  lookAlikes: [
    '"exceed limits" while status.resources is far below spec.limits: the instance type list was empty, not the limit full',
    'a limit clause of a pool that other clauses exclude for these pods',
  ],
  judge(facts, scope) {
    const waiting = scope.troubledPods.filter(isUnscheduled);
    return facts.all('NodePool').flatMap((pool) => {
      const full = fullResource(pool);
      const refusals = waiting.flatMap((pod) => limitRefusals(facts, pod, pool));
      if (!full || refusals.length === 0) return [];
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'pool-limit' as const,
          explains: ['pending' as const, 'scheduling' as const],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: 'direct' as const,
          cause: text(
            `NodePool ${pool.metadata.name} has reached its limit (${full.used} of ${full.limit} ${full.resource}), so Karpenter may not launch another node.`,
          ),
          root: refOf(pool),
          affects: waiting.map(refOf),
          onset: earliest(...refusals.map((event) => event.firstAt)),
          evidence: [
            evidence.event(refusals[0]!),
            evidence.field(pool, `spec.limits.${full.resource}`),
            evidence.field(pool, `status.resources.${full.resource}`),
          ],
          chain: [
            {
              object: `NodePool ${pool.metadata.name}`,
              uid: pool.metadata.uid,
              claim: `${full.resource} ${full.used} of ${full.limit}`,
            },
            ...waiting
              .slice(0, 3)
              .map((pod) => ({
                object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
                uid: pod.metadata.uid,
                claim: 'not scheduled',
              })),
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

const fullResource = (pool: KubeObject): { resource: string; used: string; limit: string } | undefined =>
  Object.entries<string>(pool.spec?.limits ?? {})
    .map(([resource, limit]) => ({ resource, limit, used: pool.status?.resources?.[resource] as string }))
    .find(({ used, limit }) => quantity(used) >= fullShare * quantity(limit));

const limitRefusals = (facts: ClusterFacts, pod: KubeObject, pool: KubeObject): KubeEvent[] =>
  facts
    .eventsAbout(pod, 'FailedScheduling')
    .filter((event) =>
      parseKarpenterRefusal(event.message).some(
        (refusal) => refusal.kind === 'limits' && (!refusal.pool || refusal.pool === pool.metadata.name),
      ),
    );
