import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { launchFailures } from '../../facts/capacity/launches.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import type { Scope } from '../../facts/scope.ts';
import { addMinutes, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

/** From the autoscaler's act to a ready node: usual on every cloud, with a slow image pull. */
const usualMinutes = 10;

export default rule({
  title: 'The autoscaler has acted for the waiting pods and the machine is only minutes old: nothing is wrong yet',
  lookAlikes: ['the same nomination for the tenth machine in an hour', 'a launch that the vendor refused'],
  judge(facts, scope) {
    if (displaced(facts, scope)) return [];
    const failures = launchFailures(facts);
    return waitingGroups(facts, scope).flatMap((group) => {
      const act = actFor(facts, group);
      if (!act || failures.some((entry) => entry.at >= act.firstAt)) return [];
      if (minutesBetween(group.since, facts.now) > usualMinutes + 5) return [];
      const claim = claimOf(facts, act);
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'pending' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          state: 'expected' as const,
          owner: 'undetermined' as const,
          boundary: 'provisioning' as const,
          strength: 'derived' as const,
          cause: text(
            `Expected: a node is on its way for ${group.pods.length} pods of ${nameOf(group.workload)} (“${act.message}”, ${Math.round(minutesBetween(act.firstAt, facts.now))} min ago).`,
          ),
          root: refOf(claim ?? group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            evidence.event(act),
            ...(claim ? [evidence.condition(claim, 'Launched')] : []),
            ...refusalEvidence(evidence, group),
          ],
          chain: waitingChain(group),
          nextSteps: [text(`Look again at the deadline: by then the pods run, or the machine did not join.`)],
          deadline: addMinutes(act.firstAt, usualMinutes + 5),
        },
      ];
    });
  },
});

/** Pods of lower priority were pushed out: demand outran the room kept free, which is more than a scale-up. */
const displaced = (facts: ClusterFacts, scope: Scope): boolean =>
  facts.events.some(
    (event) => event.reason === 'Preempted' && scope.namespaces.includes(event.regarding.namespace ?? ''),
  );

/** A first act of minutes ago that covers every pod of the group: repeated acts mean that the former ones failed. */
const actFor = (facts: ClusterFacts, group: WaitingGroup): KubeEvent | undefined => {
  const acts = group.pods.map((pod) =>
    facts
      .eventsAbout(pod)
      .filter((event) => /^(Nominated|TriggeredScaleUp)$/.test(event.reason))
      .at(-1),
  );
  const fresh = acts.every(
    (act) => act !== undefined && minutesBetween(act.firstAt, facts.now) <= usualMinutes && act.count <= 3,
  );
  return fresh ? acts[0] : undefined;
};

const claimOf = (facts: ClusterFacts, act: KubeEvent): KubeObject | undefined => {
  const claim = facts.find('NodeClaim', /nodeclaim\/([\w-]+)/.exec(act.message)?.[1]);
  return claim && isTrue(claim, 'Launched') ? claim : undefined;
};
