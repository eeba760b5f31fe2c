import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A refusal longer ago than this was made good by the controller's next pod. */
const recentMinutes = 60;

interface Refusal {
  pattern: RegExp;
  side: 'node' | 'template';
  boundary: Boundary;
  says: string;
}

/** Reasons of `rejectPod` in the kubelet (`admissionRejectionReasons` and the constants of its packages). */
const refusals: Refusal[] = [
  {
    pattern: /^OutOf/,
    side: 'node',
    boundary: 'capacity',
    says: 'the node has less room than the scheduler believed',
  },
  {
    pattern: /^(NodeAffinity|TaintToleration|NodeName|InvalidNodeInfo)$/,
    side: 'node',
    boundary: 'node',
    says: 'the labels or taints of the node changed after the pod was bound',
  },
  {
    pattern: /^(TopologyAffinityError)$/,
    side: 'node',
    boundary: 'node',
    says: 'its CPUs, memory or devices do not align on one NUMA zone of the node',
  },
  {
    pattern: /^(UnexpectedAdmissionError|UnexpectedPredicateFailureType|UnknownReason)$/,
    side: 'node',
    boundary: 'node',
    says: 'the kubelet could not allocate a device for it',
  },
  {
    pattern: /^(VolumeAttachmentLimitExceeded)$/,
    side: 'node',
    boundary: 'storage',
    says: 'the node has no attachment slot left for its volume',
  },
  {
    pattern: /^Preempting$/,
    side: 'node',
    boundary: 'capacity',
    says: 'the kubelet made room for a critical pod of the node',
  },
  {
    pattern:
      /^(SysctlForbidden|AppArmor|PodOSNotSupported|PodOSSelectorNodeLabelDoesNotMatch|SupplementalGroupsPolicyNotSupported|PodLevelResourcesNotSupported|PodFeatureUnsupported|InitContainerRestartPolicyForbidden|NodePorts)$/,
    side: 'template',
    boundary: 'config',
    says: 'its template asks for what the kubelet does not allow',
  },
];

export default rule({
  title: 'The kubelet refuses pods that were bound to its node, and the replicas stay short',
  lookAlikes: [
    'refused once and replaced: the loss is over',
    'the node was shutting down: a late bind, made good elsewhere',
    'refused by the scheduler: no node was chosen',
  ],
  judge(facts, scope) {
    const refused = scope.pods.flatMap((pod) => {
      const refusal = refusals.find(({ pattern }) => pattern.test(pod.status?.reason ?? ''));
      const at = refusedAt(facts, pod);
      return pod.status?.phase === 'Failed' && refusal && !(minutesBetween(at, facts.now) > recentMinutes)
        ? [{ pod, refusal, at }]
        : [];
    });
    return groupBy(refused, ({ pod }) => `${nameOf(facts.workloadOf(pod))} ${pod.status.reason}`).flatMap(
      (group): FindingDraft[] => {
        const { pod, refusal } = group[0]!;
        const workload = facts.workloadOf(pod);
        const alive = facts.podsOf(workload).filter((entry) => entry.status?.phase !== 'Failed');
        if (alive.length > 0 && alive.every(isReady) && alive.length >= (workload.spec?.replicas ?? 1)) return [];
        const nodes = [...new Set(group.map((entry) => entry.pod.spec?.nodeName as string))];
        const owner = refusal.side === 'node' ? 'platform' : ownershipOf(facts, workload);
        const node = facts.find('Node', nodes[0]);
        const evidence = cite(owner, facts);
        const message: string = pod.status.message ?? '';
        return [
          {
            mechanism: refusal.side === 'node' ? 'scheduling' : 'admission-denied',
            explains: ['pending', 'rollout', 'job', 'unknown-symptom', 'crash', 'eviction'],
            owner,
            boundary: refusal.boundary,
            // One refusal may be a race that the next pod wins.
            strength: group.length > 1 ? 'direct' : 'derived',
            cause: text(
              `The kubelet refused ${group.length} pods of ${nameOf(workload)} on ${nodes.length === 1 ? `node ${nodes[0]}` : `${nodes.length} nodes`} (${pod.status.reason}): ${refusal.says}: “${message.slice(0, 200)}”.`,
            ),
            root: refOf(refusal.side === 'node' ? (node ?? pod) : workload),
            affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
            onset: earliest(...group.map((entry) => entry.at)),
            evidence: [
              ...group
                .slice(0, 3)
                .map((entry) =>
                  evidence.field(entry.pod, 'status.reason', entry.pod.status.reason, entry.pod.status.message ?? ''),
                ),
              ...(node ? [evidence.field(node, 'status.allocatable'), evidence.field(node, 'spec.taints')] : []),
            ],
            chain: [
              ...(node ? [link(node, refusal.says)] : []),
              ...group.slice(0, 2).map((entry) => link(entry.pod, `refused: ${entry.pod.status.reason}`)),
              link(workload, 'replicas short'),
            ],
            nextSteps: [
              text(
                refusal.side === 'node'
                  ? `kubectl describe node ${nodes[0]}: cordon it while its allocatable, labels, devices or slots are put right; failed pods can be deleted.`
                  : `kubectl -n ${pod.metadata.namespace} get pod ${pod.metadata.name} -o jsonpath={.status.message}, and take what it names out of the template or allow it on the nodes.`,
              ),
            ],
          },
        ];
      },
    );
  },
});

/** A refused pod ran nothing: its start, or the event of the refusal, is when. */
const refusedAt = (facts: ClusterFacts, pod: KubeObject): string | undefined =>
  latest(
    pod.status?.startTime,
    ...facts.eventsAbout(pod, pod.status?.reason).map((event) => event.lastAt),
    pod.metadata.creationTimestamp,
  );
