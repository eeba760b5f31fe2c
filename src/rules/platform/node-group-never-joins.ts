import { type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'Machines of a node group start and never become nodes, as the autoscaler or the vendor’s group health says',
  lookAlikes: [
    'a scale-up that the vendor refused: then no machine exists',
    'the autoscaler’s time-out alone: it is the same for a shortage, for machines that end at once and for a failed join',
  ],
  judge(facts) {
    const timeouts = facts.events.filter((event) => event.reason === 'ScaleUpTimedOut');
    const nodegroup = facts.cloud('eks.describeNodegroup')?.nodegroup;
    const issues: any[] = (nodegroup?.health?.issues ?? []).filter(
      (issue: any) => issue.code === 'NodeCreationFailure',
    );
    if (timeouts.length === 0 && issues.length === 0) return [];
    const waiting = waitingPods(facts).filter((pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet');
    const owner = issues.length > 0 ? ('platform' as const) : ('undetermined' as const);
    const evidence = cite('platform', facts);
    const said = timeouts.at(-1)?.message ?? `${issues[0].code}: ${issues[0].message}`;
    const root: ObjectRef = timeouts.at(-1)?.regarding ?? { kind: 'Nodegroup', name: nodegroup?.nodegroupName ?? '' };
    return [
      {
        mechanism: 'node-not-joining' as const,
        explains: [
          'pending' as const,
          'scheduling' as const,
          'rollout' as const,
          'unknown-symptom' as const,
          'pool-limit' as const,
        ],
        owner,
        boundary: issues.length > 0 ? ('provisioning' as const) : null,
        strength: 'derived' as const,
        cause: text(
          `New machines never join the cluster: “${said}”; ${waiting.length} pods wait.${issues.length > 0 ? '' : ' Whether the cloud started none, they ended at once, or they cannot join is not in what was read.'}`,
        ),
        root,
        affects: [...waiting.map(refOf), root],
        onset: timeouts[0]?.firstAt,
        evidence: [
          ...timeouts.slice(-2).map((event) => evidence.event(event)),
          ...issues
            .slice(0, 2)
            .map((issue, index) =>
              evidence.aws(
                'eks.describeNodegroup',
                `nodegroup.health.issues[${index}]`,
                issue.code,
                issue.message ?? '',
              ),
            ),
        ],
        chain: [{ object: `${root.kind} ${root.name}`, claim: 'its machines do not register' }],
        missing:
          issues.length > 0
            ? []
            : [
                {
                  layer: 'cloud' as const,
                  missing: 'what the group did: whether the cloud started machines for it at all',
                  fix: 'read the scaling activities of the group (autoscaling:DescribeScalingActivities, or the errors of the instance group or scale set)',
                },
              ],
        nextSteps: [
          text(
            'Read a machine’s console output: user data, node role and its access entry, route to the API server, image.',
          ),
        ],
      },
    ];
  },
});
