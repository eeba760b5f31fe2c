import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containersOf, isReady, isTerminating, waitingReason } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;

export default rule({
  title: 'A container is killed, or its end delayed, because its postStart or preStop hook fails',
  lookAlikes: [
    'a container that ends by itself: its own exit code',
    'a liveness kill: the probe’s event',
    'a failed preStop of a pod that ended in time: noise',
  ],
  judge(facts, scope) {
    const failed = scope.pods.flatMap((pod) => {
      const event = facts
        .eventsAbout(pod)
        .findLast(
          (entry) =>
            /^Failed(PostStart|PreStop)Hook$/.test(entry.reason) &&
            minutesBetween(entry.lastAt, facts.now) < recentMinutes,
        );
      const start = event?.reason === 'FailedPostStartHook' || waitingReason(pod) === 'PostStartHookError';
      const harmful = start ? !isReady(pod) : isTerminating(pod);
      return (event || start) && harmful ? [{ pod, event, start }] : [];
    });
    return groupBy(failed, ({ pod, start }) => `${nameOf(facts.workloadOf(pod))} ${start}`).map(
      (group): FindingDraft => {
        const { pod, event, start } = group[0]!;
        const workload = facts.workloadOf(pod);
        const owner = ownershipOf(facts, workload);
        const evidence = cite(owner, facts);
        const hook = start ? 'postStart' : 'preStop';
        const name =
          /spec\.containers\{([^}]+)\}/.exec(event?.regarding.fieldPath ?? '')?.[1] ??
          containersOf(pod).find((container) => container.lifecycle?.[hook])?.name ??
          'app';
        const index = (pod.spec?.containers ?? []).findIndex((container: any) => container.name === name);
        const waiting = (pod.status?.containerStatuses ?? []).find((status: any) => status.state?.waiting)?.state
          .waiting;
        const words: string = event?.message ?? waiting?.message ?? 'PostStartHookError';
        return {
          mechanism: 'crash',
          explains: ['probe', 'rollout', 'unknown-symptom', 'drain-blocked', 'job'],
          owner,
          boundary: 'config',
          strength: 'direct',
          cause: text(
            `The ${hook} hook of container ${name} of ${nameOf(workload)} fails, so the kubelet ${start ? 'kills the container and starts it again' : 'waits out the grace period of its pods'}: “${words.slice(0, 200)}”.`,
          ),
          root: refOf(workload),
          affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
          onset: earliest(...group.map((entry) => entry.event?.firstAt)),
          evidence: [
            ...group.slice(0, 3).flatMap((entry) => (entry.event ? [evidence.event(entry.event)] : [])),
            ...(waiting
              ? [evidence.field(pod, 'status.containerStatuses', waiting.reason, waiting.message ?? '')]
              : []),
            evidence.field(pod, `spec.containers[${Math.max(0, index)}].lifecycle`),
          ],
          chain: [
            link(workload, `its ${hook} hook fails`),
            ...group.slice(0, 2).map((entry) => link(entry.pod, start ? 'does not stay up' : 'does not end in time')),
          ],
          nextSteps: [
            text(
              `Run what the hook runs by hand: kubectl -n ${pod.metadata.namespace} get pod ${pod.metadata.name} -o jsonpath='{.spec.containers[*].lifecycle}'`,
            ),
          ],
        };
      },
    );
  },
});
