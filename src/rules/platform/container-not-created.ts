import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { containerStatuses } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;
/** The runtime was asked, did not answer in time, and is asked again for what it has half made. */
const stuck =
  /context deadline exceeded|failed to reserve container name|name "[^"]+" is reserved|operation timeout|DeadlineExceeded|KillPodSandbox|KillContainer.{0,80}(?:deadline|timeout)/i;

export default rule({
  title:
    'A node’s container runtime does not create or end containers in time: pods with sandbox and image go no further',
  lookAlikes: [
    'a program that cannot be started: its file or rights',
    'a missing ConfigMap or Secret',
    'the kubelet says that the runtime is down: then that is it',
  ],
  judge(facts, scope) {
    const held = scope.pods.flatMap((pod) => stuckOf(facts, pod) ?? []);
    return groupBy(held, ({ pod }) => pod.spec?.nodeName ?? '').flatMap((group): FindingDraft[] => {
      const name: string = group[0]!.pod.spec?.nodeName ?? '';
      const node = facts.find('Node', name);
      if (!name) return [];
      // Others on the node in the same state take the doubt from the one image or command.
      const around = facts.podsOn(name).filter((pod) => stuckOf(facts, pod));
      const workloads = new Set(around.map((pod) => nameOf(facts.workloadOf(pod))));
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'node-runtime',
          explains: ['pending', 'rollout', 'probe', 'unknown-symptom'],
          owner: 'platform',
          boundary: 'node',
          strength: workloads.size > 1 ? 'derived' : 'circumstantial',
          cause: text(
            `The container runtime of node ${name} does not finish its work in time for ${around.length} pods of ${workloads.size} workloads: “${group[0]!.words.slice(0, 200)}”.`,
          ),
          root: node ? refOf(node) : { kind: 'Node', name },
          affects: group.flatMap(({ pod }) => [pod, facts.workloadOf(pod)]).map(refOf),
          onset: earliest(...group.map((entry) => entry.event?.firstAt)),
          evidence: [
            ...group
              .slice(0, 3)
              .map(({ pod, event, words }) =>
                event
                  ? evidence.event(event)
                  : evidence.field(pod, 'status.containerStatuses', 'CreateContainerError', words),
              ),
            ...(node ? [evidence.condition(node, 'Ready')] : []),
          ],
          chain: [
            ...(node ? [link(node, 'its runtime is slow or stuck')] : []),
            ...group.slice(0, 3).map(({ pod }) => link(pod, 'its container is not created or ended')),
          ],
          nextSteps: [
            text(
              `kubectl cordon ${name}; on it: crictl ps -a, journalctl -u containerd, iostat (a disk at its limit is the usual reason); replace the node if it does not recover.`,
            ),
          ],
        },
      ];
    });
  },
});

const stuckOf = (facts: ClusterFacts, pod: KubeObject) => {
  const waiting = containerStatuses(pod).find((status) => status.state?.waiting?.reason === 'CreateContainerError')
    ?.state?.waiting;
  const event = facts
    .eventsAbout(pod)
    .findLast(
      (entry) =>
        minutesBetween(entry.lastAt, facts.now) <= recentMinutes &&
        ((entry.reason === 'Failed' && /^Error: /.test(entry.message)) || entry.reason === 'FailedKillPod') &&
        stuck.test(entry.message),
    );
  const isWaiting = containerStatuses(pod).some((status) => status.state?.waiting);
  const ending = event?.reason === 'FailedKillPod' && pod.metadata.deletionTimestamp !== undefined;
  if (waiting && stuck.test(waiting.message ?? '')) return { pod, event, words: waiting.message as string };
  return event && (isWaiting || ending) ? { pod, event, words: event.message } : undefined;
};
