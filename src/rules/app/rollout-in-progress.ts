import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isBound, isReady, podSpecOf, restarts, waitingReason } from '../../facts/pods.ts';
import { addMinutes, duration, latest, minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Alerts that count replicas, and nothing that users feel. */
const aboutReplicas = /replicas?|rollout|generation|updated|desired|unavailable|mismatch|below/i;
const feltByUsers = /error|5xx|latency|slow|failing requests|burn/i;
/** Without a delay of its own a pod is given so long to become ready. */
const usualStartMinutes = 3;
const defaultDeadlineSeconds = 600;

export default rule({
  title: 'A rollout that progresses: replicas are short only because the newest pods still warm up',
  lookAlikes: [
    'no step for longer than a pod takes to start: stuck',
    'a new pod that restarted, cannot be pulled or is not scheduled',
    'pods of the former revision that are not ready',
  ],
  judge(facts, scope) {
    const words = facts.alerts
      .map((alert) => `${alert.labels.alertname} ${Object.values(alert.annotations).join(' ')}`)
      .join(' ');
    if (!aboutReplicas.test(words) || feltByUsers.test(words)) return [];
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const rollout = rolloutOf(facts, workload);
      const progressing = condition(workload, 'Progressing');
      if (workload.kind !== 'Deployment' || !rollout?.previous || progressing?.status !== 'True') return [];
      if (!/^(ReplicaSetUpdated|NewReplicaSetCreated|FoundNewReplicaSet)$/.test(progressing.reason ?? '')) return [];
      const pods = facts.podsOf(workload);
      const fresh = facts.childrenOf(rollout.current).filter((pod) => pod.kind === 'Pod');
      const late = pods.filter((pod) => !isReady(pod));
      const allowance = usualStartMinutes + Math.max(0, ...fresh.map(delayMinutes));
      const warming = late.every((pod) => fresh.includes(pod) && warmsUp(facts, pod, allowance));
      const moved = latest(
        (progressing as { lastUpdateTime?: string }).lastUpdateTime,
        ...fresh.map((pod) => pod.metadata.creationTimestamp),
      );
      const steps = minutesBetween(moved, facts.now);
      if (late.length === 0 || !warming || fresh.filter(isReady).length === 0 || !(steps <= allowance)) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const limit = (workload.spec?.progressDeadlineSeconds ?? defaultDeadlineSeconds) / 60;
      return [
        {
          mechanism: 'rollout',
          explains: ['unknown-symptom', 'probe', 'application-error', 'load', 'autoscaler-growth', 'scaling-limit'],
          state: 'expected',
          owner,
          boundary: null,
          strength: 'derived',
          cause: text(
            `The rollout of ${nameOf(workload)} that began at ${rollout.at} progresses: ${fresh.filter(isReady).length} new pods are ready, ${late.length} still warm up, and its last step was ${duration(steps)} ago.`,
          ),
          root: refOf(workload),
          affects: [workload, ...pods, ...pods.slice(0, 1).flatMap((pod) => facts.servicesOf(pod))].map(refOf),
          onset: rollout.at,
          evidence: [
            evidence.condition(workload, 'Progressing'),
            ...facts
              .eventsAbout(workload, 'ScalingReplicaSet')
              .slice(-2)
              .map((event) => evidence.event(event)),
            ...late.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
          ],
          chain: [
            link(rollout.current, 'is being rolled out'),
            ...late.slice(0, 2).map((pod) => link(pod, 'warms up')),
          ],
          contributing: [],
          nextSteps: [
            text(`kubectl rollout status deployment/${workload.metadata.name} -n ${workload.metadata.namespace}`),
          ],
          deadline: addMinutes(moved!, Math.ceil(Math.max(limit, allowance))),
        },
      ];
    });
  },
});

/** Bound, never restarted, not waiting for anything, and younger than a start may take. */
const warmsUp = (facts: ClusterFacts, pod: KubeObject, allowance: number): boolean =>
  isBound(pod) &&
  restarts(pod) === 0 &&
  /^(ContainerCreating|PodInitializing)?$/.test(waitingReason(pod) ?? '') &&
  minutesBetween(pod.metadata.creationTimestamp, facts.now) <= allowance;

/** How long the pod's own probes give it before they count. */
const delayMinutes = (pod: KubeObject): number =>
  Math.max(
    0,
    ...((podSpecOf(pod).containers ?? []) as any[]).flatMap((container) =>
      [container.readinessProbe, container.startupProbe]
        .filter(Boolean)
        .map((probe) => (probe.initialDelaySeconds ?? 0) + (probe.periodSeconds ?? 10) * (probe.failureThreshold ?? 3)),
    ),
  ) / 60;
