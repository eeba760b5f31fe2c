import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, isReady, isTerminating } from '../../facts/pods.ts';
import { addMinutes, duration, latest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Alerts about the state of pods and replicas: they are answered by that state. */
const aboutState =
  /^Kube(Deployment|StatefulSet|DaemonSet)(ReplicasMismatch|RolloutStuck|UpdateNotRolledOut|GenerationMismatch)$|^KubePod(NotReady|CrashLooping)$|^KubeContainerWaiting$|ReplicasUnavailable|ReplicasMismatch|RolloutStuck/i;
/** Alerts look back up to a quarter of an hour; a container that ended so lately may end again. */
const settledMinutes = 2;
const restartMinutes = 15;
/** A recovery longer ago than this is not why an alert still fires. */
const recentMinutes = 45;

export default rule({
  title: 'The workload of an alert about replicas or pods is whole again: the alert follows the range of its query',
  lookAlikes: [
    'replicas that are ready while users meet errors: not what such an alert asks about',
    'a container that runs between two crashes',
    'a workload that was never unready in the time of the alert: the alert means something else',
  ],
  judge(facts, scope) {
    if (facts.alerts.length === 0 || !facts.alerts.every((alert) => aboutState.test(alert.labels.alertname ?? '')))
      return [];
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      if (workload.kind !== 'Deployment' && workload.kind !== 'StatefulSet') return [];
      const pods = facts.podsOf(workload).filter((pod) => pod.status?.phase !== 'Succeeded');
      const desired = workload.spec?.replicas ?? 1;
      const whole = pods.length === desired && pods.every((pod) => isReady(pod) && !isTerminating(pod));
      const { readyReplicas = 0, updatedReplicas = 0, observedGeneration } = workload.status ?? {};
      const rolled =
        readyReplicas === desired &&
        updatedReplicas === desired &&
        (observedGeneration ?? 0) >= (workload.metadata.generation ?? 0) &&
        condition(workload, 'Progressing')?.status !== 'False' &&
        condition(workload, 'Available')?.status !== 'False';
      const since = latest(...pods.map((pod) => condition(pod, 'Ready')?.lastTransitionTime));
      const ended = latest(
        ...pods.flatMap((pod) => containerStatuses(pod).map((status) => status.lastState?.terminated?.finishedAt)),
      );
      const steady =
        minutesBetween(since, facts.now) >= settledMinutes && !(minutesBetween(ended, facts.now) < restartMinutes);
      const onset = facts.alerts.map((alert) => alert.startsAt).sort()[0]!;
      // It was short when the alert's time began (a `for` of 15 minutes lies before its start).
      const wasShort = since !== undefined && minutesBetween(onset, since) > -20;
      if (
        !whole ||
        !rolled ||
        !steady ||
        !wasShort ||
        desired === 0 ||
        minutesBetween(since, facts.now) > recentMinutes
      )
        return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'unknown-symptom',
          explains: ['unknown-symptom', 'rollout', 'pending'],
          state: 'over',
          owner,
          boundary: null,
          strength: 'derived',
          cause: text(
            `It is over: all ${desired} replicas of ${nameOf(workload)} have been ready for ${duration(minutesBetween(since, facts.now))}; the alert follows its range.`,
          ),
          root: refOf(workload),
          affects: [workload, ...pods].map(refOf),
          onset,
          evidence: [
            ...['Progressing', 'Available']
              .filter((type) => isTrue(workload, type))
              .map((type) => evidence.condition(workload, type)),
            evidence.field(workload, 'status.readyReplicas'),
            ...pods.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
            ...facts
              .eventsAbout(workload)
              .slice(-1)
              .map((event) => evidence.event(event)),
          ],
          chain: [link(workload, `has ${readyReplicas} of ${desired} replicas ready since ${since}`)],
          contributing: [],
          nextSteps: [
            text(
              'Nothing now. If it comes again: find what made the replicas late (image size, start-up time, deadline).',
            ),
          ],
          deadline: addMinutes(facts.now, 15),
        },
      ];
    });
  },
});
