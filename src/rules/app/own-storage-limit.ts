import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The kubelet evicts for a limit the pod set itself; "the node was low on resource" reads otherwise. */
const ownLimit =
  /Container (\S+) exceeded its local ephemeral storage limit "([^"]+)"|Pod ephemeral local storage usage exceeds the total limit of containers (\S+?)\.?\s|Usage of EmptyDir volume "([^"]+)" exceeds the limit "([^"]+)"/;
const recentMinutes = 6 * 60;

interface Eviction {
  pod: KubeObject;
  words: string;
  event?: KubeEvent;
  at?: string;
}

export default rule({
  title: 'Pods are evicted because they exceeded an ephemeral storage or emptyDir limit of their own',
  lookAlikes: ['the node was low on disk: the node, or another pod on it'],
  judge(facts, scope) {
    const evictions = scope.pods.flatMap((pod) => evictionOf(facts, pod));
    return groupBy(evictions, (entry) => nameOf(facts.workloadOf(entry.pod))).map((group): FindingDraft => {
      const entry = group.at(-1)!;
      const workload = facts.workloadOf(entry.pod);
      const onset = earliest(...group.map((item) => item.at)) ?? facts.now;
      const rollout = rolloutBefore(facts, workload, onset, 24 * 60);
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      return {
        mechanism: 'eviction',
        explains: ['crash', 'rollout', 'probe', 'unknown-symptom', 'application-error'],
        owner,
        boundary: 'application',
        strength: 'direct',
        cause: text(
          `Pods of ${nameOf(workload)} are evicted for a storage limit of their own: ${ownLimit.exec(`${entry.words} `)![0].trim()}${rollout ? `, since the rollout at ${rollout.at}` : ''}.`,
        ),
        root: refOf(workload),
        affects: [workload, ...facts.podsOf(workload)].map(refOf),
        onset: rollout?.at ?? onset,
        evidence: group
          .slice(-3)
          .map((item) =>
            item.event ? evidence.event(item.event) : evidence.field(item.pod, 'status.reason', 'Evicted', item.words),
          ),
        chain: [
          link(workload, 'writes more than it may'),
          ...group.slice(0, 2).map((item) => link(item.pod, 'evicted')),
        ],
        contributing: [],
        nextSteps: [
          text(
            'Find what the container writes to its own file system or emptyDir; rotate it, put it on a volume, or raise the limit.',
          ),
        ],
      };
    });
  },
});

const evictionOf = (facts: ClusterFacts, pod: KubeObject): Eviction[] => {
  if (pod.status?.reason === 'Evicted' && ownLimit.test(`${pod.status.message} `))
    return [{ pod, words: pod.status.message, at: pod.metadata.creationTimestamp }];
  return facts
    .eventsAbout(pod, 'Evicted')
    .filter((event) => ownLimit.test(`${event.message} `) && minutesBetween(event.lastAt, facts.now) <= recentMinutes)
    .slice(-1)
    .map((event) => ({ pod, words: event.message, event, at: event.firstAt }));
};
