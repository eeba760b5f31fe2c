import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { addMinutes, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;
/** The vendor’s own words about the host of a container instance: condition reasons and events of EciService. */
const hostFault = /^(SystemFailure|SystemMaintenance|InstanceFailure)\.?(Reboot|Redeploy|Stop)$|^SystemReboot$/;
const release = 'SpotToBeReleased';
const spotKey = 'k8s.aliyun.com/eci-spot-strategy';
/** A release is announced minutes ahead, and the controller makes another pod. */
const releaseMinutes = 15;

export default rule({
  title:
    'A container instance is taken back: its host failed and is restarted, or it was bought as spot and is released',
  lookAlikes: [
    'an instance that was never made: out of stock, quota, balance',
    'a container that ends by itself or is OOMKilled',
  ],
  judge(facts, scope) {
    const taken = scope.pods.flatMap((pod) => signOf(facts, pod) ?? []);
    return groupBy(taken, ({ pod, spot }) => `${nameOf(facts.workloadOf(pod))} ${spot}`).map((group): FindingDraft => {
      const { pod, spot, reason, message } = group[0]!;
      const workload = facts.workloadOf(pod);
      const owner = spot ? ownershipOf(facts, workload) : 'cloud';
      const evidence = cite(owner, facts);
      return {
        mechanism: spot ? 'eviction' : 'host-failure',
        explains: ['crash', 'probe', 'rollout', 'pending', 'application-error', 'unknown-symptom', 'node-silent'],
        state: spot ? 'expected' : 'fault',
        owner,
        boundary: spot ? null : 'node',
        strength: 'direct',
        cause: text(
          spot
            ? `${group.length} container instances of ${nameOf(workload)} were bought as spot and are being released (“${message}”); the controller makes others.`
            : `The host under ${group.length} container instances of ${nameOf(workload)} failed or is maintained (${reason}${message ? `: ${message}` : ''}), and the vendor restarts them.`,
        ),
        root: refOf(pod),
        affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
        onset: group[0]!.at,
        evidence: group
          .slice(0, 3)
          .flatMap((entry) => [
            entry.cite(evidence),
            ...(spot
              ? [
                  evidence.field(
                    entry.pod,
                    `metadata.annotations[${spotKey}]`,
                    entry.pod.metadata.annotations?.[spotKey],
                  ),
                ]
              : []),
          ]),
        chain: [link(pod, reason), link(workload, 'loses pods')],
        nextSteps: [
          text(
            spot
              ? 'Nothing to do now; use eci-spot-fallback or pods that are not spot for what must not be interrupted.'
              : 'Open a case with the vendor, naming the container instances and the time; delete a pod that does not come back, so that it is made anew.',
          ),
        ],
        deadline: spot ? addMinutes(facts.now, releaseMinutes) : undefined,
      };
    });
  },
});

const signOf = (facts: ClusterFacts, pod: KubeObject) => {
  const matches = (reason: string | undefined): boolean => reason === release || hostFault.test(reason ?? '');
  const type = ['ContainerInstanceCreated', 'SandboxReady'].find((name) => {
    const entry = condition(pod, name);
    return matches(entry?.reason) && !(minutesBetween(entry?.lastTransitionTime, facts.now) > recentMinutes);
  });
  const event = facts
    .eventsAbout(pod)
    .findLast((entry) => matches(entry.reason) && minutesBetween(entry.lastAt, facts.now) <= recentMinutes);
  const told = type ? condition(pod, type) : undefined;
  const reason = told?.reason ?? event?.reason;
  if (!reason) return undefined;
  return {
    pod,
    reason,
    spot: reason === release,
    message: told?.message ?? event?.message ?? '',
    at: told?.lastTransitionTime ?? event?.firstAt,
    cite: (evidence: ReturnType<typeof cite>) => (type ? evidence.condition(pod, type) : evidence.event(event!)),
  };
};
