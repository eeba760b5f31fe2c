import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { poolOf } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { stuckDrains } from '../../facts/nodes/drains.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished } from '../../facts/pods.ts';
import { selects } from '../../facts/selectors.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title: 'A node cannot drain, because two disruption budgets select one pod, which the Eviction API refuses',
  lookAlikes: [
    'a budget that allows no disruption: one budget is enough for that',
    'two budgets that each select other pods of the namespace',
  ],
  judge(facts) {
    return stuckDrains(facts).flatMap(({ node, claim, since, events }): FindingDraft[] => {
      const held = facts
        .podsOn(node.metadata.name)
        .filter((pod) => !isFinished(pod))
        .map((pod) => ({ pod, budgets: budgetsOf(facts, pod) }))
        .find(({ budgets }) => budgets.length > 1);
      if (!held) return [];
      const newest = [...held.budgets].sort((a, b) => born(b).localeCompare(born(a)))[0]!;
      const owner = ownershipOf(facts, newest);
      const evidence = cite(owner, facts);
      const pool = poolOf(facts, claim ?? node);
      const said = facts
        .eventsAbout(held.pod)
        .filter((event) =>
          /[Mm]ultiple ?PodDisruptionBudgets|more than one PodDisruptionBudget/.test(event.reason + event.message),
        );
      return [
        {
          mechanism: 'drain-blocked',
          explains: ['node-churn', 'pool-limit', 'pending', 'scheduling', 'unknown-symptom'],
          owner,
          boundary: 'config',
          strength: 'direct',
          cause: text(
            `${held.budgets.map(nameOf).join(' and ')} both select ${nameOf(held.pod)}; the Eviction API does not support a pod with more than one PodDisruptionBudget, so node ${node.metadata.name} cannot drain for ${duration(minutesBetween(since, facts.now))}.`,
          ),
          root: refOf(newest),
          affects: [node, ...(claim ? [claim] : []), ...(pool ? [pool] : [])].map(refOf),
          onset: since,
          evidence: [
            ...said.slice(-1).map((event) => evidence.event(event)),
            ...held.budgets
              .slice(0, 2)
              .flatMap((budget) => [
                evidence.field(budget, 'spec'),
                evidence.field(budget, 'metadata.creationTimestamp'),
              ]),
            ...events.slice(-2).map((event) => evidence.event(event)),
          ],
          chain: [
            link(newest, 'a second budget for the same pods'),
            link(held.pod, 'its eviction is refused'),
            link(node, 'cannot drain'),
          ],
          contributing:
            owner === 'app'
              ? [
                  {
                    owner: 'platform',
                    action: text(
                      'Bound the drain (terminationGracePeriod of the pool), or delete the pod by hand with its team.',
                    ),
                  },
                ]
              : [],
          nextSteps: [
            text(
              `Keep one of the two: kubectl delete pdb ${held.budgets.find((budget) => budget !== newest)!.metadata.name} -n ${newest.metadata.namespace}`,
            ),
          ],
        },
      ];
    });
  },
});

const born = (object: KubeObject): string => object.metadata.creationTimestamp ?? '';

const budgetsOf = (facts: ClusterFacts, pod: KubeObject): KubeObject[] =>
  facts
    .in('PodDisruptionBudget', pod.metadata.namespace ?? '')
    .filter((budget) => budget.spec?.selector && selects(budget.spec.selector, pod.metadata.labels));
