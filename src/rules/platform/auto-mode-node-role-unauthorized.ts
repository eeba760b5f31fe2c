import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import { accessOf, unauthorizedClasses } from '../../facts/nodes/access-entries.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title:
    'A NodeClass’s node role may not join the cluster, because it has no access entry or one of the wrong type or policy',
  lookAlikes: ['the entry exists and is right, and the vendor’s controller looks up another ARN'],
  judge(facts, scope) {
    return unauthorizedClasses(facts).flatMap(({ nodeClass, type, pools, waiting }) => {
      const access = accessOf(facts, nodeClass.spec?.role ?? '');
      if (access.state === 'right') return [];
      if (waiting.length === 0 && !scope.wide && !pools.some((pool) => scope.pools.includes(pool))) return [];
      const evidence = cite('platform', facts);
      const why = {
        missing: 'has no access entry',
        'wrong-type': `has an access entry of type ${access.type}, not EC2`,
        'wrong-policy': 'has an access entry without the auto node policy',
        unread: 'is not allowed to join; its access entries could not be read',
      }[access.state];
      return [
        {
          mechanism: 'pool-not-ready' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: access.state === 'unread' ? ('derived' as const) : ('direct' as const),
          cause: text(
            `Node role ${nodeClass.spec?.role} of NodeClass ${nodeClass.metadata.name} ${why}, so NodePool ${pools.map((pool) => pool.metadata.name).join(', ')} cannot make nodes; ${waiting.length} pods wait.`,
          ),
          root: refOf(nodeClass),
          affects: [...waiting.map(refOf), ...pools.map(refOf), refOf(nodeClass)],
          evidence: [
            evidence.condition(nodeClass, type),
            ...pools.slice(0, 2).map((pool) => evidence.condition(pool, 'NodeClassReady')),
            evidence.field(nodeClass, 'spec.role'),
            ...(access.entries ? [evidence.aws('eks.listAccessEntries', 'accessEntries', access.entries)] : []),
          ],
          chain: [
            {
              object: `NodeClass ${nodeClass.metadata.name}`,
              uid: nodeClass.metadata.uid,
              claim: `role ${nodeClass.spec?.role} ${why}`,
            },
            ...pools.map((pool) => ({
              object: `NodePool ${pool.metadata.name}`,
              uid: pool.metadata.uid,
              claim: 'not Ready',
            })),
          ],
          nextSteps: [
            text(
              `Create the entry: aws eks create-access-entry --cluster-name ${facts.identity.name} --principal-arn <arn of ${nodeClass.spec?.role}> --type EC2, and associate AmazonEKSAutoNodePolicy.`,
            ),
          ],
          missing:
            access.state === 'unread'
              ? [
                  {
                    layer: 'cloud' as const,
                    missing: 'the access entry of the node role',
                    fix: 'allow eks:ListAccessEntries and eks:DescribeAccessEntry',
                  },
                ]
              : [],
        },
      ];
    });
  },
});
