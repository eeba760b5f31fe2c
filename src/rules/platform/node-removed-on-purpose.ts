import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { groupOf, isNotReady, removalMark } from '../../facts/nodes/nodes.ts';
import { isTerminating } from '../../facts/pods.ts';
import { addMinutes, duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A drained node's object is gone within minutes once its instance terminates; after this it is stuck. */
const removalMinutes = 30;
/** Nodes of the new version join shortly before the old ones go. */
const upgradeMinutes = 120;
const wanted =
  /^(DisruptionTerminating|ScaleDown|ScaleDownEmpty|SpotInterrupted|TerminatingOnInterruption)$|Disrupting Node|Scale-down: removing node|marked the node as toBeDeleted/;

export default rule({
  title: 'A node turns NotReady because Karpenter or Cluster Autoscaler is removing it',
  lookAlikes: [
    'the drain does not finish: pods or budgets hold it',
    'the node went silent before anybody asked for its removal',
    'removal marks on other nodes than the alert’s',
  ],
  judge(facts, scope) {
    const subjects = scope.subjectNodes.length > 0 ? scope.subjectNodes : scope.nodes.filter(isNotReady);
    return subjects.flatMap((node) => {
      const mark = removalMark(node) ?? upgradeMark(facts, node);
      const asked = facts.eventsAbout(node).filter((event) => wanted.test(event.reason) || wanted.test(event.message));
      const since = earliest(mark?.at, ...asked.map((event) => event.firstAt));
      if ((!mark && asked.length === 0) || !since) return [];
      if (minutesBetween(since, facts.now) > removalMinutes) return [];
      const silentFirst = facts
        .eventsAbout(node, 'NodeNotReady')
        .some((event) => minutesBetween(event.firstAt, since) > 1);
      if (silentFirst || stuckPods(facts, node).length > 0) return [];
      return [expected(facts, node, mark, asked, since)];
    });
  },
});

/** Cordoned while nodes of another version have just joined: a rolling upgrade of the pool. */
const upgradeMark = (facts: ClusterFacts, node: KubeObject): ReturnType<typeof removalMark> => {
  const taint = (node.spec?.taints ?? []).find((entry: any) => entry.key === 'node.kubernetes.io/unschedulable');
  const version = node.status?.nodeInfo?.kubeletVersion;
  const fresh = facts
    .all('Node')
    .some(
      (other) =>
        groupOf(other) === groupOf(node) &&
        other.status?.nodeInfo?.kubeletVersion !== version &&
        minutesBetween(other.metadata.creationTimestamp, facts.now) < upgradeMinutes,
    );
  return node.spec?.unschedulable && taint?.timeAdded && version && fresh
    ? { mark: `upgrade from ${version}`, at: taint.timeAdded }
    : undefined;
};

/** Pods that the drain waits for long after their grace period. */
const stuckPods = (facts: ClusterFacts, node: KubeObject): KubeObject[] =>
  facts
    .podsOn(node.metadata.name)
    .filter(
      (pod) =>
        isTerminating(pod) &&
        minutesBetween(pod.metadata.deletionTimestamp, facts.now) > 10 &&
        facts.workloadOf(pod).kind !== 'DaemonSet',
    );

const expected = (
  facts: ClusterFacts,
  node: KubeObject,
  mark: ReturnType<typeof removalMark>,
  asked: KubeEvent[],
  since: string,
) => {
  const evidence = cite('platform', facts);
  const reason = asked.find((event) => event.regarding.kind === 'Node')?.message ?? mark?.mark ?? '';
  const evicted = facts.events
    .filter((event) => event.reason === 'Evicted' && event.source === 'karpenter')
    .slice(0, 2);
  const claim = facts.claimOf(node);
  return {
    mechanism: 'node-churn' as const,
    explains: [
      'node-silent' as const,
      'node-runtime' as const,
      'node-removed' as const,
      'probe' as const,
      'eviction' as const,
      'unknown-symptom' as const,
      'host-failure' as const,
    ],
    state: 'expected' as const,
    owner: 'platform' as const,
    boundary: 'node' as const,
    strength: 'direct' as const,
    cause: text(
      `Node ${node.metadata.name} is being removed on purpose (${reason}, begun ${duration(minutesBetween(since, facts.now))} ago); its kubelet stops as the instance terminates.`,
    ),
    root: refOf(claim ?? node),
    affects: harmedBy(facts, [node]),
    onset: since,
    evidence: [
      ...asked.slice(0, 2).map((event) => evidence.event(event)),
      ...(mark
        ? [
            evidence.field(
              node,
              mark.mark === 'deletionTimestamp' ? 'metadata.deletionTimestamp' : 'spec.taints',
              mark.mark === 'deletionTimestamp' ? mark.at : (node.spec?.taints ?? []),
            ),
          ]
        : []),
      evidence.condition(node, 'Ready'),
      ...facts
        .eventsAbout(node, 'NodeNotSchedulable')
        .slice(-1)
        .map((event) => evidence.event(event)),
      evidence.field(node, 'status.nodeInfo.kubeletVersion'),
      ...evicted.map((event) => evidence.event(event)),
    ],
    chain: [link(node, reason || 'removed')],
    nextSteps: [text(`Look again if the node still exists at the deadline: kubectl get node ${node.metadata.name}`)],
    deadline: addMinutes(facts.now, 15),
  };
};
