import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { accessOf, failedLookups, unauthorizedClasses } from '../../facts/nodes/access-entries.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'The vendor’s managed node controller refuses a node role whose access entry exists and is right',
  lookAlikes: ['the same condition with no access entry, or one of the wrong type'],
  judge(facts, scope) {
    return unauthorizedClasses(facts).flatMap(({ nodeClass, type, pools, waiting }) => {
      const role: string = nodeClass.spec?.role ?? '';
      const access = accessOf(facts, role);
      if (access.state !== 'right') return [];
      if (waiting.length === 0 && !scope.wide && !pools.some((pool) => scope.pools.includes(pool))) return [];
      const lookups = failedLookups(facts, access.arn ?? '');
      const evidence = cite('cloud', facts);
      return [
        {
          mechanism: 'pool-not-ready' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner: 'cloud' as const,
          boundary: 'control-plane' as const,
          strength: lookups.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `The managed node controller refuses role ${role} although its access entry ${access.arn} exists and is right${lookups[0] ? `: the service itself looked for ${lookups[0].wanted} and found nothing` : ''}; NodePool ${pools.map((pool) => pool.metadata.name).join(', ')} stays unready and ${waiting.length} pods wait.`,
          ),
          root: refOf(nodeClass),
          affects: [...waiting.map(refOf), ...pools.map(refOf), refOf(nodeClass)],
          evidence: [
            evidence.condition(nodeClass, type),
            evidence.aws('eks.listAccessEntries', 'accessEntries', access.entries),
            ...lookups
              .slice(0, 2)
              .map((lookup) =>
                evidence.aws(
                  'cloudtrail.lookupEvents',
                  `Events[${lookup.index}]`,
                  lookup.error,
                  `DescribeAccessEntry by ${lookup.actor} for ${lookup.wanted}: ${lookup.message}`,
                  lookup.at,
                ),
              ),
            ...pools.slice(0, 1).map((pool) => evidence.condition(pool, 'NodeClassReady')),
          ],
          chain: [
            {
              object: `NodeClass ${nodeClass.metadata.name}`,
              uid: nodeClass.metadata.uid,
              claim: 'refused by the vendor’s controller',
            },
            ...pools.map((pool) => ({
              object: `NodePool ${pool.metadata.name}`,
              uid: pool.metadata.uid,
              claim: 'not Ready',
            })),
          ],
          contributing: [
            {
              owner: 'platform' as const,
              action: text('Work round it with a node role without a path, and an access entry for it.'),
            },
          ],
          nextSteps: [
            text('Open a support case with the trail entries: the service asks for an ARN that is not the role’s.'),
            text('Meanwhile name a role without a path in the NodeClass and make an access entry for it.'),
          ],
        },
      ];
    });
  },
});
