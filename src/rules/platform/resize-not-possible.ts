import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A deferred resize waits for room that other pods may free by themselves. */
const patienceMinutes = 10;

export default rule({
  title:
    'A pod keeps its old resources: the kubelet holds a resize in place to be impossible on its node, or failed at it',
  lookAlikes: [
    'a resize deferred a moment ago: it waits for room',
    'a VerticalPodAutoscaler whose pods are replaced: requests come with the new pod',
    'the node is under pressure: the node first',
  ],
  judge(facts, scope) {
    return scope.pods.flatMap((pod): FindingDraft[] => {
      const stuck = stuckResize(facts, pod);
      if (!stuck) return [];
      const workload = facts.workloadOf(pod);
      const vpa = facts
        .in('VerticalPodAutoscaler', pod.metadata.namespace ?? '')
        .find((entry) => entry.spec?.targetRef?.name === workload.metadata.name);
      const node = facts.nodeOf(pod);
      // What can never fit is asked too much of; what waits or failed is the node's side.
      const owner = stuck.reason === 'Infeasible' ? ownershipOf(facts, vpa ?? workload) : 'platform';
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'scheduling',
          explains: ['rollout', 'unknown-symptom', 'throttling'],
          owner,
          boundary: owner === 'platform' ? 'capacity' : 'config',
          strength: stuck.reason === 'Deferred' ? 'derived' : 'direct',
          cause: text(
            `${nameOf(pod)} runs with its old resources: its resize in place is ${stuck.words}${vpa ? `, asked for by ${nameOf(vpa)}` : ''} (“${stuck.message.slice(0, 200)}”).`,
          ),
          root: refOf(stuck.reason === 'Infeasible' ? (vpa ?? workload) : (node ?? pod)),
          affects: [pod, workload].map(refOf),
          onset: stuck.since,
          evidence: [
            evidence.condition(pod, stuck.type),
            evidence.field(pod, 'spec.containers[0].resources'),
            ...(node ? [evidence.field(node, 'status.allocatable')] : []),
            ...(vpa ? [evidence.field(vpa, 'status.recommendation')] : []),
          ],
          chain: [link(vpa ?? workload, 'asks for other resources'), link(pod, `resize ${stuck.words}`)],
          nextSteps: [
            text(
              stuck.reason === 'Infeasible'
                ? `Ask for what a node can hold, or replace the pod so that it lands on a larger node: kubectl -n ${pod.metadata.namespace} delete pod ${pod.metadata.name}`
                : `kubectl describe node ${pod.spec?.nodeName}: free room there, or replace the pod so that it is placed anew.`,
            ),
          ],
        },
      ];
    });
  },
});

interface StuckResize {
  type: 'PodResizePending' | 'PodResizeInProgress';
  reason: 'Infeasible' | 'Deferred' | 'Error';
  words: string;
  message: string;
  since?: string;
}

/** Conditions from 1.33 on; before, `status.resize` said `Infeasible` or `Deferred` alone. */
const stuckResize = (facts: ClusterFacts, pod: KubeObject): StuckResize | undefined => {
  const pending = condition(pod, 'PodResizePending');
  const running = condition(pod, 'PodResizeInProgress');
  const old = /^(Infeasible|Deferred)$/.exec(pod.status?.resize ?? '')?.[1];
  const of = (reason: StuckResize['reason'], type: StuckResize['type'], message = '', since?: string): StuckResize => ({
    type,
    reason,
    message: message || reason,
    since,
    words: { Infeasible: 'impossible on its node', Deferred: 'put off', Error: 'failing' }[reason],
  });
  if (pending?.status === 'True' && pending.reason === 'Infeasible')
    return of('Infeasible', 'PodResizePending', pending.message, pending.lastTransitionTime);
  if (running?.status === 'True' && running.reason === 'Error')
    return of('Error', 'PodResizeInProgress', running.message, running.lastTransitionTime);
  if (
    pending?.status === 'True' &&
    pending.reason === 'Deferred' &&
    minutesBetween(pending.lastTransitionTime, facts.now) > patienceMinutes
  )
    return of('Deferred', 'PodResizePending', pending.message, pending.lastTransitionTime);
  return old === 'Infeasible' ? of('Infeasible', 'PodResizePending') : undefined;
};
