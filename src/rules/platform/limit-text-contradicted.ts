import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { launchKindOf } from '../../facts/capacity/launch-kind.ts';
import { fullResource } from '../../facts/capacity/pool-limits.ts';
import { relevantRefusals, waitingGroups } from '../../facts/capacity/waiting.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title: 'Karpenter says “exceed limits” while the pool is far below them: its list of instance types is empty',
  lookAlikes: ['a limit that leaves no room for the smallest machine'],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const refused = relevantRefusals(group).filter((refusal) => refusal.kind === 'limits');
      const pool = group.candidates.find(
        (candidate) =>
          refused.some((refusal) => !refusal.pool || refusal.pool === candidate.metadata.name) &&
          !fullResource(candidate),
      );
      if (!pool || group.candidates.some((candidate) => fullResource(candidate))) return [];
      const failed = typeListFailure(facts);
      const kind = failed ? launchKindOf('', failed.line).kind : undefined;
      const owner =
        kind === 'service-error'
          ? ('cloud' as const)
          : kind === 'denied'
            ? ('platform' as const)
            : ('undetermined' as const);
      const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
      return [
        {
          mechanism: 'launch-failed' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const],
          owner,
          boundary: owner === 'cloud' ? ('control-plane' as const) : ('provisioning' as const),
          strength: owner === 'undetermined' ? ('circumstantial' as const) : ('derived' as const),
          cause: text(
            `Karpenter says that every type exceeds the limits of NodePool ${pool.metadata.name}, which uses ${JSON.stringify(pool.status?.resources ?? {})} of ${JSON.stringify(pool.spec?.limits ?? {})}: no type was left to choose from${failed ? `, because the list of types could not be read (${kind})` : ''}; ${nameOf(group.workload)} waits.`,
          ),
          root: refOf(pool),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            evidence.field(pool, 'spec.limits'),
            evidence.field(pool, 'status.resources'),
            ...(failed ? [evidence.log(failed.log, failed.line)] : []),
          ],
          chain: [link(pool, 'below its limits, yet no type is available'), ...waitingChain(group)],
          nextSteps: [
            text(
              'Read Karpenter’s log for the calls that list instance types and offerings (DescribeInstanceTypes, DescribeInstanceTypeOfferings, pricing).',
            ),
          ],
          missing:
            owner === 'undetermined'
              ? [
                  {
                    layer: 'platform' as const,
                    missing: 'why no instance type is available',
                    fix: 'read the log of the Karpenter controller around the refusal',
                  },
                ]
              : [],
        },
      ];
    });
  },
});

const typeListFailure = (facts: ClusterFacts) =>
  facts.logs
    .filter((log) => /^karpenter/.test(log.pod))
    .flatMap((log) => log.text.split('\n').map((line) => ({ log, line })))
    .find(
      ({ line }) =>
        /ERROR|error/.test(line) &&
        /instance ?types?|DescribeInstanceType|offerings/i.test(line) &&
        !/launching nodeclaim|could not schedule|exceed limits/.test(line),
    );
