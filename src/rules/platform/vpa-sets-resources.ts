import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { oomKillsOf } from '../../facts/nodes/oom.ts';
import { ownershipOf, teamOf } from '../../facts/ownership.ts';
import { isUnscheduled } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { containerPath } from '../../facts/workloads/workloads.ts';
import { isAutomation, lastWriter, sharesWord, speaksOfPlatform } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title:
    'A VerticalPodAutoscaler gave pods other requests or limits than their template, and they do not get along with them',
  lookAlikes: [
    'a limit that the template itself sets: the application’s',
    'a default of the namespace (LimitRange)',
    'a VPA in mode Off, which only recommends',
  ],
  judge(facts, scope) {
    const hit = scope.pods.filter(
      (pod) => pod.metadata.annotations?.vpaUpdates && (oomKillsOf(facts, pod).length > 0 || isUnscheduled(pod)),
    );
    return groupBy(hit, (pod) => nameOf(facts.workloadOf(pod))).flatMap((pods) => {
      const workload = facts.workloadOf(pods[0]!);
      const scaler = facts
        .in('VerticalPodAutoscaler', workload.metadata.namespace ?? '')
        .find(({ spec }) => spec?.targetRef?.kind === workload.kind && spec.targetRef.name === workload.metadata.name);
      return scaler ? [findingOf(facts, workload, pods, scaler)] : [];
    });
  },
});

const findingOf = (facts: ClusterFacts, workload: KubeObject, pods: KubeObject[], scaler: KubeObject): FindingDraft => {
  const write = lastWriter(scaler, 'f:spec');
  const setter = setterOf(facts, scaler, workload, write?.manager);
  const owner = setter ? 'platform' : ownershipOf(facts, scaler);
  const evidence = cite(owner, facts);
  const kills = pods.flatMap((pod) => oomKillsOf(facts, pod));
  const kill = kills[0];
  const cap = scaler.spec?.resourcePolicy?.containerPolicies?.find((policy: any) => policy.maxAllowed)?.maxAllowed;
  const evicted = facts.events.filter(
    (event) =>
      event.reason === 'EvictedByVPA' &&
      event.namespace === workload.metadata.namespace &&
      event.regarding.name.startsWith(`${workload.metadata.name}-`),
  );
  const recent = write && minutesBetween(write.time, facts.now) < 7 * 24 * 60 ? write : undefined;
  return {
    mechanism: 'quota',
    explains: [
      'oom',
      'crash',
      'pending',
      'scheduling',
      'pool-limit',
      'eviction',
      'probe',
      'application-error',
      'rollout',
      'unknown-symptom',
    ],
    owner,
    boundary: 'autoscaling',
    strength: 'derived',
    cause: text(
      `${nameOf(scaler)}${setter ? ` (set by ${setter})` : ''} gave ${pods.length} pods of ${nameOf(workload)} resources that their template does not state${cap ? `, at most ${words(cap)}` : ''}: ${kill ? `container ${kill.container} is OOMKilled at ${kill.limit}` : 'no node has room for them'}${recent ? `; it was changed at ${recent.time}` : ''}.`,
    ),
    root: refOf(scaler),
    affects: [workload, ...pods].map(refOf),
    onset:
      recent?.time ?? earliest(...evicted.map((event) => event.firstAt), ...kills.map((entry) => entry.finishedAt)),
    evidence: [
      evidence.field(pods[0]!, 'metadata.annotations', pods[0]!.metadata.annotations!.vpaUpdates),
      evidence.field(scaler, 'spec'),
      ...(recent ? [evidence.field(scaler, 'metadata.managedFields', recent)] : []),
      evidence.field(scaler, 'status.recommendation'),
      ...kills
        .slice(0, 2)
        .flatMap((entry) => [
          evidence.field(
            entry.pod,
            `status.containerStatuses[${entry.container}].lastState.terminated`,
            `OOMKilled, exit 137 at ${entry.finishedAt}, ${entry.restarts} restarts`,
          ),
          evidence.field(entry.pod, containerPath(entry.pod, entry.container, 'resources.limits.memory'), entry.limit),
        ]),
      ...(kill ? [] : [evidence.condition(pods[0]!, 'PodScheduled')]),
      ...evicted.slice(-2).map((event) => evidence.event(event)),
    ],
    chain: [
      link(scaler, 'sets the resources of new pods'),
      ...pods.slice(0, 3).map((pod) => link(pod, kill ? 'is OOMKilled with them' : 'finds no node with them')),
    ],
    nextSteps: [
      text(
        `Stop it and give the pods their template’s resources back: kubectl patch vpa ${scaler.metadata.name} -n ${scaler.metadata.namespace} --type merge -p '{"spec":{"updatePolicy":{"updateMode":"Off"}}}'; then restart the workload.`,
      ),
    ],
  };
};

/** Who of the platform set it, if not the team itself: a tool that bears neither its nor its workload's name. */
const setterOf = (
  facts: ClusterFacts,
  scaler: KubeObject,
  workload: KubeObject,
  manager: string | undefined,
): string | undefined => {
  const { namespace = '', name } = workload.metadata;
  const own = [namespace, name, teamOf(workload), teamOf(facts.find('Namespace', namespace))];
  return [manager, scaler.metadata.labels?.['app.kubernetes.io/managed-by']]
    .filter((who) => !own.some((word) => sharesWord(who, word)))
    .find((who) => speaksOfPlatform(who) || isAutomation(who));
};

const words = (amounts: Record<string, string>): string =>
  Object.entries(amounts)
    .map(([resource, value]) => `${resource} ${value}`)
    .join(', ');
