import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const autoscaler = /^(karpenter|cluster-autoscaler)([-.]|$)/;
const unreadable =
  /conversion webhook for .* failed|no matches for kind "?(?:NodePool|NodeClaim|EC2NodeClass)|cannot (?:list|watch|get) resource "?(?:nodepools|nodeclaims|ec2nodeclasses|pods|nodes)\b/;
const recentMinutes = 60;

export default rule({
  title: 'The node autoscaler runs and cannot read its own objects (conversion webhook, missing CRD, missing rights)',
  lookAlikes: [
    'an autoscaler that is down: its pods are not ready',
    'a single error during a restart: it has not come again',
    'a cloud that refuses: the autoscaler did ask',
  ],
  judge(facts) {
    const waiting = waitingPods(facts).filter((pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet');
    if (waiting.length === 0) return [];
    return facts
      .all('Deployment')
      .filter((deployment) => autoscaler.test(deployment.metadata.name))
      .flatMap((deployment) => findingOf(facts, deployment, waiting));
  },
});

const findingOf = (facts: ClusterFacts, deployment: KubeObject, waiting: KubeObject[]): FindingDraft[] => {
  const lines = grep(facts, facts.podsOf(deployment), unreadable);
  const last = lines.at(-1);
  if (lines.length < 2 || !last || (last.at && minutesBetween(last.at, facts.now) > recentMinutes)) return [];
  const evidence = cite('platform', facts);
  const said = unreadable.exec(last.text)!;
  const words = last.text.slice(said.index, said.index + 200);
  return [
    {
      mechanism: 'controller-down',
      explains: ['pending', 'scheduling', 'rollout', 'pool-mismatch', 'unknown-symptom'],
      owner: 'platform',
      boundary: 'config',
      strength: 'derived',
      cause: text(
        `${nameOf(deployment)} cannot read the objects it works with, so it makes no node for ${waiting.length} waiting pods: “${words}”.`,
      ),
      root: refOf(deployment),
      affects: waiting.map(refOf),
      onset: earliest(...lines.map((line) => line.at)),
      evidence: [
        ...lines.slice(0, 1).map((line) => evidence.log(line.log, line.text)),
        ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
        ...waiting.slice(0, 1).map((pod) => evidence.condition(pod, 'PodScheduled')),
      ],
      chain: [link(deployment, 'cannot list its objects'), ...waiting.slice(0, 3).map((pod) => link(pod, 'waits'))],
      nextSteps: [
        text(
          'Look at the conversion of the CRDs, and at the service it names: kubectl get crd nodepools.karpenter.sh -o jsonpath={.spec.conversion}; install the CRDs that belong to the installed version.',
        ),
      ],
    },
  ];
};
