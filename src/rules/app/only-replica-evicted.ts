import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, restarts } from '../../facts/pods.ts';
import { selects } from '../../facts/selectors.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** An eviction that was asked for through the Eviction API: by Karpenter, a drain, an autoscaler or the descheduler. */
const orderly =
  /Evicted pod: |Evicting pod|deleting pod for node scale down|pod evicted (?:from|by)|Underutilized|Empty|Drifted|Expired|descheduler/i;
/** Kubelets evict what their node cannot hold: that is pressure, and no budget stops it. */
const underPressure = /low on resource|DiskPressure|MemoryPressure|PIDPressure|taint|Preempt|Spot|interrupt|Unhealthy/i;
const windowMinutes = 4 * 60;
const nearMinutes = 15;
/** A successor that is well has started by then. */
const passingMinutes = 5;

export default rule({
  title: 'The only replica of a workload, without a disruption budget, is down each time its node is cleared as usual',
  lookAlikes: [
    'several replicas, or a budget: an eviction is no outage',
    'a node lost, taken back or under pressure: not cleared as usual',
    'one eviction a few minutes ago whose successor is just starting',
    'the pool clears nodes far more often than it used to: who set it so',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      if (!['Deployment', 'StatefulSet'].includes(workload.kind) || (workload.spec?.replicas ?? 1) !== 1) return [];
      const evictions = evictionsOf(facts, workload);
      const last = evictions.at(-1);
      const onset = facts.alerts[0]?.startsAt ?? facts.now;
      if (!last || minutesBetween(last.lastAt, onset) > nearMinutes || hasBudget(facts, workload)) return [];
      if (evictions.length === 1 && isPassing(facts, workload, last)) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const nodes = facts.events.filter(
        (event) =>
          event.regarding.kind === 'Node' &&
          /DisruptionTerminating|Drain|ScaleDown|RemovingNode/.test(event.reason) &&
          Math.abs(minutesBetween(event.lastAt, last.lastAt)) < nearMinutes,
      );
      return [
        {
          mechanism: 'eviction',
          explains: ['application-error', 'probe', 'unknown-symptom'],
          owner,
          boundary: 'config',
          strength: 'derived',
          cause: text(
            `${nameOf(workload)} runs one replica without a PodDisruptionBudget${workload.spec?.strategy?.type === 'Recreate' ? ' (strategy Recreate)' : ''}, so each orderly eviction is an outage: “${last.message}”, ${evictions.length === 1 ? 'once' : `${evictions.length} times`} in ${duration(minutesBetween(earliest(...evictions.map((event) => event.firstAt)), facts.now))}.`,
          ),
          root: refOf(workload),
          affects: [workload, ...facts.podsOf(workload)].map(refOf),
          onset: last.firstAt,
          evidence: [
            ...evictions.slice(-3).map((event) => evidence.event(event)),
            evidence.field(workload, 'spec.replicas', workload.spec?.replicas ?? 1, nameOf(workload)),
            evidence.absence(
              'poddisruptionbudgets that select it',
              `namespace ${workload.metadata.namespace}`,
              `kubectl get pdb -n ${workload.metadata.namespace}`,
            ),
            ...nodes.slice(-1).map((event) => evidence.event(event)),
          ],
          chain: [link(workload, 'one replica, no budget'), link(workload, 'has no pod until the next one is ready')],
          contributing: [],
          nextSteps: [
            text(
              `kubectl scale ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=2, spread over nodes and with a PodDisruptionBudget of minAvailable 1; if it may run only once, ask for do-not-disrupt and a window.`,
            ),
          ],
        },
      ];
    });
  },
});

/** Orderly evictions of this workload's pods, also of those that are gone, oldest first. */
const evictionsOf = (facts: ClusterFacts, workload: KubeObject): KubeEvent[] =>
  podEventsOf(facts, workload, /^(?:Evict|ScaleDown|Descheduled|Drain|Disrupt)/).filter(
    (event) =>
      orderly.test(`${event.reason} ${event.message}`) &&
      !underPressure.test(event.message) &&
      minutesBetween(event.lastAt, facts.now) <= windowMinutes,
  );

/** One eviction whose successor is just starting: churn that ends by itself, and shows no habit. */
const isPassing = (facts: ClusterFacts, workload: KubeObject, eviction: KubeEvent): boolean =>
  minutesBetween(eviction.lastAt, facts.now) <= passingMinutes &&
  facts
    .podsOf(workload)
    .some(
      (pod) =>
        !isReady(pod) && restarts(pod) === 0 && (pod.metadata.creationTimestamp ?? '') >= eviction.firstAt.slice(0, 16),
    );

/** Where budgets were not read, nobody may say that there is none. */
const hasBudget = (facts: ClusterFacts, workload: KubeObject): boolean =>
  facts.gapOf('poddisruptionbudgets', workload.metadata.namespace) !== undefined ||
  facts
    .in('PodDisruptionBudget', workload.metadata.namespace ?? '')
    .some((budget) => selects(budget.spec?.selector, workload.spec?.template?.metadata?.labels));
