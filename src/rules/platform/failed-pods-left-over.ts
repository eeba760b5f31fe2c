import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { isReady } from '../../facts/pods.ts';
import { latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Reasons by which a kubelet ends or refuses a pod for the node's sake, and which its controller makes good. */
const forTheNode =
  /^(Terminated|NodeShutdown|Shutdown|Preempting|NodeAffinity|NodePorts|UnexpectedAdmissionError|OutOf\w+)$/;
/** Younger than this it may still go on. */
const settledMinutes = 5;

export default rule({
  title: 'Failed pods that a node’s shutdown or a refused admission left behind, and that were replaced long since',
  lookAlikes: [
    'replicas are still short: the loss goes on',
    'pods that fail again and again: evictions, crashes',
    'failed pods of a Job: its own matter',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      if (!/^(Deployment|StatefulSet|ReplicaSet|DaemonSet)$/.test(workload.kind)) return [];
      const pods = facts.podsOf(workload);
      const failed = pods.filter((pod) => pod.status?.phase === 'Failed');
      const alive = pods.filter((pod) => !failed.includes(pod));
      const desired = workload.spec?.replicas ?? workload.status?.desiredNumberScheduled ?? 1;
      const last = latest(...failed.map(endOf));
      const over =
        failed.length > 0 &&
        failed.every((pod) => forTheNode.test(pod.status?.reason ?? '')) &&
        alive.length >= desired &&
        alive.every(isReady) &&
        minutesBetween(last, facts.now) > settledMinutes;
      if (!over) return [];
      const evidence = cite('platform', facts);
      const nodes = [...new Set(failed.map((pod) => pod.spec?.nodeName))];
      const gone = nodes.filter((name) => !facts.find('Node', name));
      const around = facts.events.filter(
        (event) =>
          event.regarding.kind === 'Node' &&
          nodes.includes(event.regarding.name) &&
          /Shutdown|DeletingNode|RemovingNode|NodeNotReady|SpotInterrupted|Preempt/.test(event.reason),
      );
      return [
        {
          mechanism: 'node-removed',
          explains: ['crash', 'unknown-symptom', 'eviction', 'probe', 'node-silent'],
          state: 'over',
          owner: 'platform',
          boundary: null,
          strength: 'direct',
          cause: text(
            `${failed.length} failed pods of ${nameOf(workload)} are left over (${failed[0]!.status.reason}: ${(failed[0]!.status.message ?? '').slice(0, 120)})${gone.length > 0 ? `; node ${gone.join(', ')} is gone` : ''}; all ${alive.length} replicas are ready since.`,
          ),
          root: refOf(failed[0]!),
          affects: [workload, ...pods].map(refOf),
          onset: last,
          evidence: [
            ...failed
              .slice(0, 2)
              .map((pod) => evidence.field(pod, 'status.reason', pod.status.reason, pod.status.message ?? '')),
            ...around.slice(-3).map((event) => evidence.event(event)),
            evidence.field(workload, 'status.readyReplicas', workload.status?.readyReplicas ?? alive.length),
          ],
          chain: [
            ...failed.slice(0, 2).map((pod) => link(pod, `ended with its node (${pod.status.reason})`)),
            link(workload, 'replicas complete'),
          ],
          contributing: [],
          nextSteps: [
            text(
              `The pod garbage collector removes them in time; at once: kubectl delete pods -n ${workload.metadata.namespace} --field-selector=status.phase=Failed`,
            ),
          ],
        },
      ];
    });
  },
});

const endOf = (pod: KubeObject): string | undefined =>
  latest(
    ...(pod.status?.containerStatuses ?? []).map((status: any) => status.state?.terminated?.finishedAt),
    ...(pod.status?.conditions ?? [])
      .filter((entry: any) => entry.type === 'DisruptionTarget')
      .map((entry: any) => entry.lastTransitionTime),
  ) ?? pod.metadata.creationTimestamp;
