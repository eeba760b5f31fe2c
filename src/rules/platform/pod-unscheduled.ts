import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title: 'Pods wait for a node and nothing that was read says why no node is made for them',
  lookAlikes: ['every other rule about waiting pods knows more'],
  judge(facts, scope) {
    return waitingGroups(facts, scope)
      .filter((group) => group.message !== '' || group.karpenterEvent !== undefined)
      .map((group) => {
        const evidence = cite('platform', facts);
        return {
          mechanism: 'pending' as const,
          explains: ['unknown-symptom' as const],
          owner: 'undetermined' as const,
          boundary: 'scheduling' as const,
          strength: 'circumstantial' as const,
          cause: text(
            `${group.pods.length} pods of ${nameOf(group.workload)} have waited ${Math.round(minutesBetween(group.since, facts.now))} min for a node: “${(group.message || group.karpenterEvent!.message).slice(0, 200)}”.`,
          ),
          root: refOf(group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: refusalEvidence(evidence, group),
          chain: waitingChain(group),
          nextSteps: [
            text('Read what the node autoscaler says of these pods: its events, its log, its pools’ conditions.'),
          ],
          missing: [
            {
              layer: 'platform' as const,
              missing: 'why no node is made for these pods',
              fix: 'kubectl get nodepools,nodeclaims; kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml; the autoscaler’s log',
            },
          ],
        };
      });
  },
});
