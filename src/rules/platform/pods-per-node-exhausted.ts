import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title: 'Nodes are full by number of pods (maxPods, address density), not by CPU or memory',
  lookAlikes: ['one node without pod slots among others that lack CPU'],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const slots = group.clauses.find((clause) => clause.reason === 'Too many pods');
      const others = group.clauses.filter((clause) => /^Insufficient/.test(clause.reason));
      if (!slots || others.some((clause) => clause.count > slots.count)) return [];
      const evidence = cite('platform', facts);
      const nodes = facts
        .all('Node')
        .filter(
          (node) =>
            facts.podsOn(node.metadata.name).length >=
            Number(node.status?.allocatable?.pods ?? Number.POSITIVE_INFINITY),
        );
      return [
        {
          mechanism: 'scheduling' as const,
          explains: ['pending' as const, 'rollout' as const],
          owner: 'platform' as const,
          boundary: 'scheduling' as const,
          strength: 'derived' as const,
          cause: text(
            `${slots.count} nodes have no pod slot left (“Too many pods”), so ${nameOf(group.workload)} waits with ${group.pods.length} pods; CPU and memory are not what lacks.`,
          ),
          root: nodes[0] ? refOf(nodes[0]) : refOf(group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...nodes.slice(0, 3).map((node) => evidence.field(node, 'status.allocatable.pods')),
          ],
          chain: waitingChain(group),
          nextSteps: [text('Raise the pods per node (prefix delegation, larger types, kubelet maxPods) or add nodes.')],
        },
      ];
    });
  },
});
