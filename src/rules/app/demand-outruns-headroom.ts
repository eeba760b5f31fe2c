import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { launchFailures } from '../../facts/capacity/launches.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Pods of one namespace that came to wait within this time are one burst. */
const burstMinutes = 15;
const burstPods = 5;

export default rule({
  title:
    'A burst of new pods outruns the room that placeholders keep free; the autoscaler has acted and a node is coming',
  lookAlikes: [
    'a scale-up after an ordinary rollout: nothing is displaced',
    'an autoscaler that does not act or is refused',
  ],
  judge(facts, scope) {
    return scope.namespaces.flatMap((namespace) => {
      const displaced = facts.events.filter(
        (event) => event.reason === 'Preempted' && event.regarding.namespace === namespace,
      );
      const burst = waitingPods(facts).filter(
        (pod) =>
          pod.metadata.namespace === namespace &&
          minutesBetween(pod.metadata.creationTimestamp, facts.now) <= burstMinutes,
      );
      const acts = burst.flatMap((pod) =>
        facts.eventsAbout(pod).filter((event) => /^(TriggeredScaleUp|Nominated)$/.test(event.reason)),
      );
      if (displaced.length === 0 || burst.length < burstPods || acts.length === 0 || launchFailures(facts).length > 0)
        return [];
      const owner = ownershipOf(facts, burst[0]!);
      const evidence = cite(owner, facts);
      const fresh = facts.all('Node').filter((node) => minutesBetween(node.metadata.creationTimestamp, facts.now) < 10);
      return [
        {
          mechanism: 'traffic' as const,
          explains: [
            'pending' as const,
            'scheduling' as const,
            'node-not-initialized' as const,
            'unknown-symptom' as const,
          ],
          owner,
          boundary: 'traffic' as const,
          strength: 'derived' as const,
          cause: text(
            `${burst.length} pods were asked for in ${namespace} within ${burstMinutes} min, more than the ${displaced.length} displaced placeholders kept free; the autoscaler acted at ${acts[0]!.firstAt}${fresh[0] ? ` and node ${fresh[0].metadata.name} is coming up` : ''}.`,
          ),
          root: refOf(burst[0]!),
          affects: burst.map(refOf),
          onset: burst.map((pod) => pod.metadata.creationTimestamp ?? '').sort()[0],
          evidence: [
            evidence.event(acts[0]!),
            ...displaced.slice(0, 2).map((event) => evidence.event(event)),
            evidence.condition(burst[0]!, 'PodScheduled'),
            ...fresh.slice(0, 1).map((node) => evidence.condition(node, 'Ready')),
            ...facts
              .seriesLike(/requests_per_minute|request_total/)
              .filter((series) => series.labels.namespace === namespace)
              .slice(0, 1)
              .map((series) => evidence.series(series, `${series.points[0]?.[1]} to ${series.points.at(-1)?.[1]}`)),
          ],
          chain: burst.slice(0, 3).map((pod) => link(pod, 'waits for the new node')),
          contributing:
            owner === 'app'
              ? [
                  {
                    owner: 'platform' as const,
                    action: text(
                      `Keep more room free for ${namespace} (placeholders, minimum size) before known peaks.`,
                    ),
                  },
                ]
              : [],
          nextSteps: [
            text(
              `Nothing to repair: the pods run once the node is ready. Announce peaks, or keep more placeholders: ${nameOf(burst[0]!)} is one of ${burst.length}.`,
            ),
          ],
        },
      ];
    });
  },
});
