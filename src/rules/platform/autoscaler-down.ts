import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isReady, terminations, waitingReason } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const autoscaler = /^(karpenter|cluster-autoscaler)([-.]|$)/;
/** The autoscaler writes its status every few seconds; ten minutes of silence is no pause. */
const staleMinutes = 10;

export default rule({
  title: 'The node autoscaler itself does not run or has fallen silent, so nobody makes nodes for waiting pods',
  lookAlikes: [
    'an autoscaler that runs and is refused by the cloud',
    'a managed autoscaler, which no pod of the cluster shows',
  ],
  judge(facts) {
    const waiting = waitingPods(facts).filter(
      (pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet' && !autoscaler.test(pod.metadata.name),
    );
    if (waiting.length === 0) return [];
    const dead = facts
      .all('Deployment')
      .filter((deployment) => autoscaler.test(deployment.metadata.name))
      .map((deployment) => ({ deployment, pods: facts.podsOf(deployment) }))
      .find(({ deployment, pods }) =>
        pods.length > 0
          ? !pods.some(isReady)
          : (deployment.spec?.replicas ?? 1) === 0 ||
            ((deployment.status?.readyReplicas ?? 0) === 0 && deployment.status !== undefined),
      );
    const stale = staleStatus(facts);
    if (!dead && !stale) return [];
    if (dead && actedLately(facts)) return [];
    const evidence = cite('platform', facts);
    const object = dead?.deployment ?? stale!.map;
    const why = dead
      ? reasonOf(dead.deployment, dead.pods)
      : `its status was last written ${Math.round(stale!.minutes)} min ago`;
    return [
      {
        mechanism: 'controller-down' as const,
        explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
        owner: 'platform' as const,
        boundary: 'provisioning' as const,
        strength: dead ? ('direct' as const) : ('derived' as const),
        cause: text(
          `The node autoscaler does not work (${nameOf(object)}: ${why}), so no node is made for ${waiting.length} waiting pods.`,
        ),
        root: refOf(object),
        affects: [...waiting.map(refOf), refOf(object)],
        evidence: [
          ...(dead
            ? [
                evidence.field(dead.deployment, 'status'),
                ...dead.pods.slice(0, 2).map((pod) => evidence.field(pod, 'status.containerStatuses')),
              ]
            : []),
          ...(stale
            ? [
                evidence.field(
                  stale.map,
                  'metadata.annotations[cluster-autoscaler.kubernetes.io/last-updated]',
                  stale.at,
                ),
              ]
            : []),
          evidence.condition(waiting[0]!, 'PodScheduled'),
        ],
        chain: [link(object, why), ...waiting.slice(0, 3).map((pod) => link(pod, 'nobody makes a node for it'))],
        nextSteps: [
          text(
            `Bring the autoscaler back: kubectl -n ${object.metadata.namespace} describe pods; kubectl -n ${object.metadata.namespace} logs deploy/${object.metadata.name} --previous`,
          ),
        ],
      },
    ];
  },
});

const reasonOf = (deployment: KubeObject, pods: KubeObject[]): string => {
  if (pods.length === 0) return (deployment.spec?.replicas ?? 1) === 0 ? 'scaled to 0' : 'no pod exists';
  const ended = pods.flatMap(terminations)[0];
  return ended
    ? `${ended.terminated.reason} with exit code ${ended.terminated.exitCode}, ${ended.restartCount} restarts`
    : (waitingReason(pods[0]!) ?? 'no pod is ready');
};

/** Events of its own in the last minutes contradict the picture: it works. */
const actedLately = (facts: ClusterFacts): boolean =>
  facts.events.some(
    (event) => /^(karpenter|cluster-autoscaler)$/.test(event.source) && minutesBetween(event.lastAt, facts.now) < 3,
  );

const staleStatus = (facts: ClusterFacts) => {
  const map = facts.find('ConfigMap', 'cluster-autoscaler-status', 'kube-system');
  const at = map?.metadata.annotations?.['cluster-autoscaler.kubernetes.io/last-updated'];
  const iso = at?.replace(/^(\d{4}-\d\d-\d\d) ([\d:.]+) \+0000 UTC$/, '$1T$2Z');
  const minutes = minutesBetween(iso, facts.now);
  return map && at && minutes > staleMinutes ? { map, at, minutes } : undefined;
};
