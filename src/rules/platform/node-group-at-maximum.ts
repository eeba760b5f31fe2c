import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { statusOf } from '../../facts/capacity/autoscaler-status.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

const atLimit =
  /max node group size reached|max cluster .*limit reached|exceeded quota: "|max total nodes in cluster reached|node count limit/;

export default rule({
  title:
    'Cluster Autoscaler may not add a node: the node group, the cluster’s total or a resource limit is at its maximum',
  lookAlikes: [
    'a group in back-off after a refused launch',
    'an application that grows without bound: the limit is only where it stops',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const event = group.autoscalerEvent;
      if (event?.reason !== 'NotTriggerScaleUp' || !atLimit.test(event.message)) return [];
      const evidence = cite('platform', facts);
      const status = facts.find('ConfigMap', 'cluster-autoscaler-status', 'kube-system');
      const full = ((statusOf(status)?.nodeGroups ?? []) as any[]).filter(
        (entry) => entry.health?.cloudProviderTarget >= entry.health?.maxSize,
      );
      return [
        {
          mechanism: 'pool-limit' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner: 'platform' as const,
          boundary: 'provisioning' as const,
          strength: full.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `Cluster Autoscaler may add no node for ${nameOf(group.workload)}: ${full.length > 0 ? full.map((entry) => `node group ${entry.name} is at its maximum of ${entry.health.maxSize}`).join(', ') : `“${event.message}”`}; ${group.pods.length} pods wait.`,
          ),
          root: status ? refOf(status) : event.regarding,
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...full
              .slice(0, 2)
              .map((entry) => evidence.field(status!, `data.status.nodeGroups[${entry.name}].health`, entry.health)),
          ],
          chain: [
            { object: `Node group ${full[0]?.name ?? ''}`.trim(), claim: 'at its maximum size' },
            ...waitingChain(group),
          ],
          nextSteps: [
            text('Raise the maximum of the group that fits these pods, or free room: look first at what grew.'),
          ],
        },
      ];
    });
  },
});
