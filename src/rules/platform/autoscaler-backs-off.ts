import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { statusMapOf, statusOf } from '../../facts/capacity/autoscaler-status.ts';
import { launchFailures } from '../../facts/capacity/launches.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title: 'A node group is in back-off or unhealthy after a scale-up whose error is gone: the class of the symptom only',
  lookAlikes: ['the error is still in an event, the status or the scaling activities: that rule says whose it is'],
  judge(facts, scope) {
    const known = launchFailures(facts).some((entry) => entry.source !== 'karpenter' && entry.kind !== 'unknown');
    if (known) return [];
    // Before 1.30 the status says that a group is held back, and not why.
    const map = statusMapOf(facts);
    const held = ((statusOf(map)?.nodeGroups ?? []) as any[]).filter((entry) => entry.scaleUp?.status === 'Backoff');
    return waitingGroups(facts, scope).flatMap((group) => {
      const message = group.autoscalerEvent?.message ?? '';
      const said = /in backoff after failed scale-up|not ready for scale-up/.test(message);
      if (!said && (held.length === 0 || /^TriggeredScaleUp$/.test(group.autoscalerEvent?.reason ?? ''))) return [];
      const words = said ? message : `node group ${held[0].name}: ScaleUp Backoff`;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'launch-failed' as const,
          explains: ['pending' as const],
          owner: 'undetermined' as const,
          boundary: 'provisioning' as const,
          strength: 'circumstantial' as const,
          cause: text(
            `Cluster Autoscaler holds back for ${nameOf(group.workload)} after a scale-up that failed (“${words}”); the error itself is not shown.`,
          ),
          root: said ? group.autoscalerEvent!.regarding : refOf(map!),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...held
              .slice(0, 2)
              .map((entry) =>
                evidence.field(map!, `data.status.nodeGroups[${entry.name}].scaleUp`, entry.scaleUp.status),
              ),
          ],
          chain: waitingChain(group),
          nextSteps: [
            text(
              'kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml, and the scaling activities of the group.',
            ),
          ],
          missing: [
            {
              layer: 'cloud' as const,
              missing: 'the cloud’s error of the failed scale-up',
              fix: 'read the autoscaler’s status and log, and the group’s activities (autoscaling:DescribeScalingActivities, the MIG’s errors, the activity log)',
            },
          ],
        },
      ];
    });
  },
});
