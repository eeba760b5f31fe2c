import type { KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { leaseAgeMinutes } from '../../facts/nodes/nodes.ts';
import { isReady, isUnscheduled, waitingReason } from '../../facts/pods.ts';
import { controlPlaneOwner, isManaged, vendorOf } from '../../facts/provider.ts';
import type { Scope } from '../../facts/scope.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A leader loses its lease after 15 s; another takes over within seconds. After two minutes nobody is left. */
const staleMinutes = 2;
const freshMinutes = 1;
/** The last error a component wrote before it ended. */
const deathCry = /^[EF]\d{4}|level=(error|fatal)|"level":"(error|fatal)"|panic:|command failed/i;

export default rule({
  title: 'No scheduler or controller manager is alive: its leader lease is no longer renewed',
  lookAlikes: [
    'every lease is stale: writes fail, and the lease is one more victim',
    'pods of a custom schedulerName: not the default scheduler’s business',
    'a managed cluster’s missing scrape target while the lease is fresh',
  ],
  judge(facts, scope) {
    const others = facts
      .all('Lease')
      .filter((lease) => !/^kube-(scheduler|controller-manager)$/.test(lease.metadata.name));
    const writable = others.length === 0 || others.some((lease) => leaseAgeMinutes(facts, lease) < freshMinutes);
    if (!writable) return [];
    return ['kube-scheduler', 'kube-controller-manager'].flatMap((name) => {
      const lease = facts.find('Lease', name, 'kube-system');
      const age = leaseAgeMinutes(facts, lease);
      if (!lease || !(age > staleMinutes)) return [];
      const victims = name === 'kube-scheduler' ? unseenPods(facts) : unreconciled(facts);
      const pods = facts
        .in('Pod', 'kube-system')
        .filter((pod) => pod.metadata.name.startsWith(name) && (!isReady(pod) || waitingReason(pod)));
      const cry = pods.flatMap((pod) => lastWords(facts, pod));
      const owner = controlPlaneOwner(facts);
      const evidence = cite(owner, facts);
      const because = cry[0]
        ? `: ${cry[0].line
            .replace(/^.*?\] /, '')
            .trim()
            .slice(0, 160)}`
        : '';
      return [
        {
          mechanism: 'controller-down' as const,
          explains: [
            'pending' as const,
            'scheduling' as const,
            'rollout' as const,
            'scaling-limit' as const,
            'crash' as const,
            'node-churn' as const,
            'unknown-symptom' as const,
          ],
          owner,
          boundary: 'control-plane' as const,
          strength: victims.length > 0 || pods.length > 0 ? ('direct' as const) : ('derived' as const),
          cause: text(
            `No ${name} is alive: its leader lease was last renewed ${duration(age)} ago${because}${name === 'kube-scheduler' ? ', so new pods get neither a node nor an event' : ', so nothing is reconciled'}.`,
          ),
          root: pods[0] ? refOf(pods[0]) : refOf(lease),
          affects:
            victims.length > 0 && !scope.wide
              ? [...victims, ...related(facts, scope, victims)].map(refOf)
              : ('cluster' as const),
          onset: lease.spec?.renewTime,
          evidence: [
            evidence.field(lease, 'spec.renewTime'),
            evidence.field(lease, 'spec.holderIdentity'),
            ...cry.slice(0, 3).map((entry) => evidence.log(entry.log, entry.line)),
            ...pods.slice(0, 2).map((pod) => evidence.field(pod, 'status.containerStatuses[0].state')),
            ...victims.slice(0, 3).map((victim) => victimEvidence(facts, victim)),
          ],
          chain: [
            link(lease, `not renewed for ${duration(age)}`),
            ...pods.slice(0, 1).map((pod) => link(pod, waitingReason(pod) ?? 'not ready')),
            ...victims
              .slice(0, 2)
              .map((victim) =>
                link(victim, victim.kind === 'Pod' ? 'never looked at by a scheduler' : 'not reconciled'),
              ),
          ],
          nextSteps: [
            text(
              isManaged(facts)
                ? `Open a case with ${vendorOf(facts)}: ${name} of cluster ${facts.identity.name} has not renewed its lease since ${lease.spec?.renewTime}.`
                : `Look at ${name} on the control plane nodes: kubectl -n kube-system logs ${pods[0]?.metadata.name ?? name} --previous`,
            ),
          ],
        },
      ];
    });
  },
});

/** Pods that no scheduler has looked at: no condition, no event, and not for another scheduler. */
const unseenPods = (facts: ClusterFacts): KubeObject[] =>
  facts
    .all('Pod')
    .filter(
      (pod) =>
        isUnscheduled(pod) &&
        (pod.spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
        !condition(pod, 'PodScheduled') &&
        !(pod.spec?.schedulingGates?.length > 0) &&
        facts.eventsAbout(pod, 'FailedScheduling').length === 0 &&
        minutesBetween(pod.metadata.creationTimestamp, facts.now) > staleMinutes,
    );

/** Workloads whose spec nobody has acted on: the generation is ahead, or replicas were asked for and not made. */
const unreconciled = (facts: ClusterFacts): KubeObject[] =>
  ['Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet']
    .flatMap((kind) => facts.all(kind))
    .filter(
      (object) =>
        (object.metadata.generation ?? 0) > (object.status?.observedGeneration ?? Number.POSITIVE_INFINITY) ||
        (object.kind !== 'DaemonSet' &&
          (object.spec?.replicas ?? 0) > (object.status?.replicas ?? Number.POSITIVE_INFINITY)),
    );

/** The workloads above and below the victims, so that an alert on either is reached. */
const related = (facts: ClusterFacts, scope: Scope, victims: KubeObject[]): KubeObject[] => [
  ...victims.map((victim) => facts.workloadOf(victim)),
  ...facts
    .all('HorizontalPodAutoscaler')
    .filter((hpa) => victims.some((victim) => victim.metadata.name === hpa.spec?.scaleTargetRef?.name)),
  ...scope.workloads.filter((workload) => victims.some((victim) => facts.workloadOf(victim) === workload)),
];

const victimEvidence = (facts: ClusterFacts, victim: KubeObject) => {
  const evidence = cite('platform', facts);
  return victim.kind === 'Pod'
    ? evidence.condition(victim, 'PodScheduled')
    : evidence.field(
        victim,
        'status.observedGeneration',
        victim.status?.observedGeneration,
        `generation ${victim.metadata.generation}, replicas asked ${victim.spec?.replicas}, made ${victim.status?.replicas}`,
      );
};

const lastWords = (facts: ClusterFacts, pod: KubeObject) =>
  facts.logsOf(pod).flatMap((log) => {
    const line = log.text
      .split('\n')
      .filter((entry) => deathCry.test(entry))
      .at(-1);
    return line ? [{ log, line }] : [];
  });
