import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, unschedulableMessage } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The scheduler's words about a ResourceClaim, and the controller's that makes it from its template. */
const missing =
  /device class "?([\w.-]+)"? does not exist|resourceclaim(?:template)? "?([\w./-]+)"? (?:not found|does not exist)|cannot (?:create|find) ResourceClaim|deviceclass(?:es)?(?:\.resource\.k8s\.io)? "([\w.-]+)" not found/i;
const full = /cannot allocate all claims|not all (?:devices|claims) (?:could be|can be) allocated/i;
const unsupported = /Dynamic Resource Allocation requirements that are not yet supported by Karpenter/i;

interface Refusal {
  pod: KubeObject;
  kind: 'tainted' | 'unprepared' | 'missing' | 'full' | 'unsupported';
  words: string;
  event?: KubeEvent;
  field: 'DisruptionTarget' | 'PodScheduled' | undefined;
}

export default rule({
  title:
    'A device that a pod claims (DRA) is tainted, cannot be prepared, has no class, or is not allocatable on any node',
  lookAlikes: [
    'an extended resource that a device plugin never registered: no claim',
    'a node taint that evicts: another condition reason',
    'all devices in use: the claim waits in turn',
  ],
  judge(facts, scope) {
    const refusals = scope.pods.flatMap((pod) => refusalOf(facts, pod) ?? []);
    return groupBy(refusals, ({ pod, kind }) => `${kind} ${nameOf(facts.workloadOf(pod))}`).map((group) =>
      finding(facts, group),
    );
  },
});

const refusalOf = (facts: ClusterFacts, pod: KubeObject): Refusal | undefined => {
  const evicted = condition(pod, 'DisruptionTarget');
  if (evicted?.reason === 'DeletionByDeviceTaintManager')
    return { pod, kind: 'tainted', words: evicted.message || evicted.reason, field: 'DisruptionTarget' };
  const unprepared = facts.eventsAbout(pod, 'FailedPrepareDynamicResources').at(-1);
  if (unprepared && !isReady(pod))
    return { pod, kind: 'unprepared', words: unprepared.message, event: unprepared, field: undefined };
  if (pod.status?.phase !== 'Pending' || pod.spec?.nodeName) return undefined;
  const events = facts.eventsAbout(pod).filter((event) => /FailedScheduling|FailedResourceClaim/.test(event.reason));
  const said = [unschedulableMessage(pod), ...events.map((event) => event.message)].filter(Boolean);
  const named = (pattern: RegExp): { words: string; event?: KubeEvent } | undefined => {
    const words = said.find((message) => pattern.test(message));
    return words ? { words, event: events.find((event) => event.message === words) } : undefined;
  };
  const [absent, refused, none] = [named(missing), named(unsupported), named(full)];
  if (absent) return { pod, kind: 'missing', ...absent, field: 'PodScheduled' };
  if (refused) return { pod, kind: 'unsupported', ...refused, field: 'PodScheduled' };
  return none ? { pod, kind: 'full', ...none, field: 'PodScheduled' } : undefined;
};

const says: Record<Refusal['kind'], string> = {
  tainted: 'its device was tainted and its pods evicted',
  unprepared: 'the driver of its device cannot prepare the claim',
  missing: 'it names a device class or claim that does not exist',
  full: 'no node has the devices of its claim free',
  unsupported: 'Karpenter makes no nodes for claims of devices',
};

const finding = (facts: ClusterFacts, group: Refusal[]): FindingDraft => {
  const { kind, words, pod } = group[0]!;
  const workload = facts.workloadOf(pod);
  // The class is the platform's to offer; a claim of the own namespace is its namespace's.
  const ownClaim = kind === 'missing' && /resourceclaim/i.test(words);
  const owner = ownClaim ? ownershipOf(facts, workload) : 'platform';
  const evidence = cite(owner, facts);
  const node = facts.nodeOf(pod);
  const drivers = facts
    .podsOn(node?.metadata.name ?? '')
    .filter((entry) => /dra|device|gpu|nvidia/i.test(entry.metadata.name) && facts.ownerOf(entry)?.kind === 'DaemonSet')
    .filter((entry) => !isReady(entry));
  return {
    mechanism: kind === 'tainted' ? 'eviction' : 'scheduling',
    explains: ['pending', 'rollout', 'job', 'unknown-symptom', ...(kind === 'unprepared' ? ['volume' as const] : [])],
    owner,
    boundary: kind === 'tainted' || kind === 'unprepared' ? 'node' : kind === 'missing' ? 'config' : 'capacity',
    strength: kind === 'full' ? 'derived' : 'direct',
    cause: text(
      `${group.length} pods of ${nameOf(workload)} do not run because ${says[kind]}${node ? ` on node ${node.metadata.name}` : ''}: “${words.slice(0, 220)}”${drivers[0] ? `; ${nameOf(drivers[0])} is not ready` : ''}.`,
    ),
    root: refOf(drivers[0] ?? (kind === 'tainted' || kind === 'unprepared' ? (node ?? pod) : workload)),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(
      ...group.map((entry) => entry.event?.firstAt ?? condition(entry.pod, entry.field ?? '')?.lastTransitionTime),
    ),
    evidence: [
      ...group
        .slice(0, 3)
        .map((entry) =>
          entry.event ? evidence.event(entry.event) : evidence.condition(entry.pod, entry.field ?? 'PodScheduled'),
        ),
      evidence.field(pod, 'spec.resourceClaims'),
      ...drivers.slice(0, 1).map((driver) => evidence.condition(driver, 'Ready')),
    ],
    chain: [
      ...drivers.slice(0, 1).map((driver) => link(driver, 'not ready')),
      link(workload, says[kind]),
      ...group.slice(0, 2).map((entry) => link(entry.pod, entry.words.slice(0, 80))),
    ],
    nextSteps: [
      text(
        kind === 'missing'
          ? `kubectl get deviceclasses; kubectl -n ${pod.metadata.namespace} get resourceclaims,resourceclaimtemplates`
          : `kubectl get resourceslices${node ? ` --field-selector spec.nodeName=${node.metadata.name}` : ''} -o yaml, kubectl get devicetaintrules, and the log of the device’s driver on the node.`,
      ),
    ],
  };
};
