import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished, isUnscheduled } from '../../facts/pods.ts';
import { maxValue, mean } from '../../facts/series.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const burstMinutes = 15;
const burstPods = 8;
/** A pod that waits longer than this waits for more than a node that boots. */
const patienceMinutes = 15;

export default rule({
  title: 'Many single pods were asked for at once; the reserve is spent and the autoscaler is bringing nodes',
  lookAlikes: [
    'the scale-up failed or is at its maximum: capacity',
    'a rollout or an HPA that adds replicas: scaling as meant',
  ],
  judge(facts, scope) {
    const waiting = scope.pods.filter((pod) => isUnscheduled(pod) && facts.workloadOf(pod) === pod);
    const first = waiting[0];
    if (!first || waiting.some((pod) => minutesBetween(pod.metadata.creationTimestamp, facts.now) > patienceMinutes))
      return [];
    const alike = facts
      .in('Pod', first.metadata.namespace ?? '')
      .filter((pod) => facts.workloadOf(pod) === pod && !isFinished(pod) && sameKind(pod, first));
    const fresh = alike.filter((pod) => minutesBetween(pod.metadata.creationTimestamp, facts.now) <= burstMinutes);
    const scaleUps = fresh.flatMap((pod) =>
      facts.eventsAbout(pod).filter((event) => /^(TriggeredScaleUp|Nominated)$/.test(event.reason)),
    );
    const preempted = facts.events.filter(
      (event) =>
        event.reason === 'Preempted' &&
        event.regarding.namespace === first.metadata.namespace &&
        minutesBetween(event.lastAt, facts.now) <= burstMinutes,
    );
    const demand = demandOf(facts, first.metadata.namespace ?? '');
    if (fresh.length < burstPods || scaleUps.length === 0 || (preempted.length === 0 && !demand)) return [];
    const owner = ownershipOf(facts, first);
    const evidence = cite(owner, facts);
    const groups = [
      ...new Set(fresh.flatMap((pod) => pod.metadata.labels?.event ?? pod.metadata.labels?.['job-name'] ?? [])),
    ];
    return [
      {
        mechanism: 'traffic',
        explains: ['pending', 'scheduling', 'node-not-initialized', 'eviction', 'autoscaler-growth', 'unknown-symptom'],
        owner,
        boundary: 'traffic',
        strength: 'derived',
        cause: text(
          `${fresh.length} pods like ${nameOf(first)} were asked for within ${burstMinutes} minutes${groups.length > 1 ? ` (${groups.join(', ')})` : ''}, more than the reserve holds${preempted.length ? ` (${preempted.length} placeholders were preempted)` : ''}; the autoscaler reacted and a node is coming.`,
        ),
        root: refOf(first),
        affects: waiting.map(refOf),
        onset: earliest(...fresh.map((pod) => pod.metadata.creationTimestamp)),
        evidence: [
          ...scaleUps.slice(0, 2).map((event) => evidence.event(event)),
          ...preempted.slice(0, 2).map((event) => evidence.event(event)),
          ...(demand ? [evidence.series(demand, `rose to ${maxValue(demand)}`)] : []),
        ],
        chain: [
          link(first, 'one of many asked for at once'),
          ...waiting.slice(1, 3).map((pod) => link(pod, 'waits for the new node')),
        ],
        contributing: [
          {
            owner: 'platform',
            action: text('Hold more placeholders, or scale ahead, for events that are known beforehand.'),
          },
        ],
        nextSteps: [
          text(
            `Wait for the node (kubectl get nodes -w); plan known events with more placeholders: kubectl get pods -n ${first.metadata.namespace} | grep -c Pending`,
          ),
        ],
      },
    ];
  },
});

const sameKind = (pod: KubeObject, other: KubeObject): boolean =>
  ['app', 'app.kubernetes.io/name', 'component'].every(
    (key) => pod.metadata.labels?.[key] === other.metadata.labels?.[key],
  );

/** A request rate of the namespace that more than doubled lately. */
const demandOf = (facts: ClusterFacts, namespace: string) =>
  facts
    .seriesLike(/request|spawn|session|launch|job/i)
    .filter(
      (series) => series.labels.namespace === namespace && !/_total$/.test(series.name) && series.points.length >= 4,
    )
    .find((series) => {
      const values = series.points.map(([, value]) => value);
      return maxValue(series) > 2 * Math.max(0.1, mean(values.slice(0, Math.max(1, Math.floor(values.length / 4)))));
    });
