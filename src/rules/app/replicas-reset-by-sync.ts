import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const cut = /Scaled down replica set \S+ (?:from (\d+) )?to (\d+)/;
const recentMinutes = 24 * 60;

export default rule({
  title: 'A manifest that states spec.replicas cuts a Deployment that an autoscaler scales, at every apply',
  lookAlikes: [
    'the autoscaler scales down by itself: its own event says the new size',
    'a rollout: an old replica set goes down while a new one comes up',
    'somebody scaled by hand once',
  ],
  judge(facts, scope) {
    return scope.workloads
      .filter((workload) => !scope.wide || workload.kind === 'Deployment')
      .flatMap((workload) => {
        const scaler = facts
          .in('HorizontalPodAutoscaler', workload.metadata.namespace ?? '')
          .find(
            ({ spec }) =>
              spec?.scaleTargetRef?.kind === workload.kind && spec.scaleTargetRef.name === workload.metadata.name,
          );
        return scaler ? findingOf(facts, workload, scaler) : [];
      });
  },
});

const findingOf = (facts: ClusterFacts, workload: KubeObject, scaler: KubeObject): FindingDraft[] => {
  const write = lastWriter(workload, 'f:replicas');
  const own = facts.eventsAbout(scaler, 'SuccessfulRescale');
  const cuts = facts
    .eventsAbout(workload, 'ScalingReplicaSet')
    .filter((event) => minutesBetween(event.lastAt, facts.now) < recentMinutes && isForeign(event, own, scaler));
  const atApply = cuts.filter((event) => write && Math.abs(minutesBetween(write.time, event.lastAt)) <= 2);
  if (!write?.fieldsV1 || atApply.length === 0) return [];
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const [, from, to] = cut.exec(atApply.at(-1)!.message)!;
  return [
    {
      mechanism: 'scaling-limit',
      explains: [
        'rollout',
        'load',
        'throttling',
        'probe',
        'application-error',
        'traffic',
        'unknown-symptom',
        'scaling-metrics',
      ],
      owner,
      boundary: 'config',
      strength: 'derived',
      cause: text(
        `${write.manager} set spec.replicas of ${nameOf(workload)} to ${to}${from ? ` from ${from}` : ''} at ${write.time}, though ${nameOf(scaler)} scales it (${scaler.spec?.minReplicas ?? 1} to ${scaler.spec?.maxReplicas})${cuts.length > 1 ? `; it is the ${cuts.length}th such cut known` : ''}: the manifest states replicas, and every apply undoes the autoscaler.`,
      ),
      root: refOf(workload),
      affects: [workload, scaler, ...facts.podsOf(workload)].map(refOf),
      onset: cuts[0]!.firstAt,
      evidence: [
        ...cuts.slice(-3).map((event) => evidence.event(event)),
        evidence.field(workload, 'metadata.managedFields', write),
        evidence.field(scaler, 'status.desiredReplicas'),
        evidence.field(scaler, 'spec.minReplicas'),
        ...own.slice(-1).map((event) => evidence.event(event)),
      ],
      chain: [link(workload, `replicas set to ${to} by ${write.manager}`), link(scaler, 'has to scale up anew')],
      nextSteps: [
        text(
          `Take spec.replicas out of the manifest of ${nameOf(workload)} (or have the deploy tool ignore it); until then pause the sync and scale up: kubectl scale deployment/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=${scaler.status?.desiredReplicas ?? '<n>'}`,
        ),
      ],
    },
  ];
};

/** A cut that the autoscaler did not order, or cannot order because it lies below its minimum. */
const isForeign = (event: KubeEvent, own: KubeEvent[], scaler: KubeObject): boolean => {
  const to = cut.exec(event.message)?.[2];
  if (to === undefined || to === '0') return false;
  const ordered = own.some(
    (other) =>
      Math.abs(minutesBetween(other.lastAt, event.lastAt)) <= 2 && other.message.startsWith(`New size: ${to};`),
  );
  return !ordered && Number(to) < Number(scaler.status?.desiredReplicas ?? scaler.spec?.minReplicas ?? 1);
};
