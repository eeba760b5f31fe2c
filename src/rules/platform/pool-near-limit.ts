import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { fullResource } from '../../facts/capacity/pool-limits.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'A pool that the alert names is at its limit, and nothing shows what fills it beyond its ordinary pods',
  lookAlikes: ['a leak, nodes that never join, small machines or pinned workloads: those rules know what fills it'],
  judge(facts, scope) {
    return scope.pools.flatMap((pool) => {
      const full = fullResource(pool);
      if (!full) return [];
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'pool-limit' as const,
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: 'circumstantial' as const,
          cause: text(
            `NodePool ${pool.metadata.name} is at its limit: ${full.used} of ${full.limit} ${full.resource}.`,
          ),
          root: refOf(pool),
          affects: [refOf(pool)],
          evidence: [
            evidence.field(pool, `spec.limits.${full.resource}`),
            evidence.field(pool, `status.resources.${full.resource}`),
          ],
          chain: [link(pool, `${full.used} of ${full.limit} ${full.resource}`)],
          nextSteps: [
            text(
              `Compare replicas per workload on NodePool ${pool.metadata.name} with last week; raise the limit if the growth is meant.`,
            ),
          ],
        },
      ];
    });
  },
});
