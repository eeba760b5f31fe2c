import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { launchFailures } from '../../facts/capacity/launches.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { addMinutes, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { refusalEvidence } from '../waiting.ts';

/** From the autoscaler's act to a ready node. */
const usualMinutes = 15;
const preemptor = /Preempted by (?:a )?pod ([0-9a-f-]{36})/;

export default rule({
  title:
    'Pods of low priority made room for more important ones, and the autoscaler is already bringing nodes for them',
  lookAlikes: [
    'a priority that was raised lately: whoever raised it',
    'an autoscaler that does not act, or whose launch is refused: the pods stay out',
    'placeholders that were displaced by a burst of their own namespace',
  ],
  judge(facts, scope) {
    if (launchFailures(facts).length > 0) return [];
    return waitingGroups(facts, scope).flatMap((group): FindingDraft[] => {
      const preempted = podEventsOf(facts, group.workload, /^Preempted$/).filter(
        (event) => minutesBetween(event.lastAt, facts.now) <= usualMinutes,
      );
      const acts = group.pods.map((pod) =>
        facts
          .eventsAbout(pod)
          .filter((event) => /^(Nominated|TriggeredScaleUp)$/.test(event.reason))
          .at(-1),
      );
      const act = acts[0];
      const acted = act && acts.every((entry) => entry && minutesBetween(entry.firstAt, facts.now) <= usualMinutes);
      const takers = preempted.flatMap(
        (event) => facts.all('Pod').find((pod) => pod.metadata.uid === preemptor.exec(event.message)?.[1]) ?? [],
      );
      const outranked = takers.every((taker) => (taker.spec?.priority ?? 0) > (group.sample.spec?.priority ?? 0));
      if (preempted.length === 0 || !acted || !outranked || group.pods.length > preempted.length) return [];
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'eviction',
          explains: ['pending', 'scheduling', 'rollout', 'unknown-symptom'],
          state: 'expected',
          owner: 'undetermined',
          boundary: 'scheduling',
          strength: 'derived',
          cause: text(
            `Expected: ${preempted.length} pods of ${nameOf(group.workload)} were preempted by more important ones${takers[0] ? ` (${nameOf(facts.workloadOf(takers[0]))}, priority ${takers[0].spec?.priority ?? 0} over ${group.sample.spec?.priority ?? 0})` : ''}, and a node for them is on its way since ${act.firstAt}.`,
          ),
          root: refOf(takers[0] ? facts.workloadOf(takers[0]) : group.workload),
          affects: [...group.pods, group.workload].map(refOf),
          onset: preempted[0]!.firstAt,
          evidence: [
            ...preempted.slice(0, 2).map((event) => evidence.event(event)),
            evidence.event(act),
            ...takers.slice(0, 1).map((pod) => evidence.field(pod, 'spec.priority')),
            evidence.field(group.sample, 'spec.priority'),
            ...refusalEvidence(evidence, group),
          ],
          chain: [
            ...takers.slice(0, 1).map((pod) => link(pod, 'took the room')),
            ...group.pods.slice(0, 2).map((pod) => link(pod, 'waits for a new node')),
          ],
          nextSteps: [text('Look again at the deadline: by then the pods run, or the scale-up failed.')],
          deadline: addMinutes(act.firstAt, usualMinutes),
        },
      ];
    });
  },
});
