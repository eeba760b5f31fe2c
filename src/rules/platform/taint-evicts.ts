import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { isSystemTaint } from '../../facts/nodes/taints.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;

export default rule({
  title: 'Pods are evicted because somebody tainted their node with NoExecute, for a reason of the cluster’s own',
  lookAlikes: [
    'not-ready and unreachable: the node is ill, and that comes first',
    'a drain or Karpenter’s disruption: NoSchedule and evictions',
    'a NoSchedule taint: it moves nobody who is there',
  ],
  judge(facts, scope) {
    if (scope.wide) return [];
    const tainted = facts
      .all('Node')
      .flatMap((node) =>
        ((node.spec?.taints ?? []) as any[])
          .filter((taint) => taint.effect === 'NoExecute' && !isSystemTaint(taint.key))
          .map((taint) => ({ node, taint })),
      );
    if (tainted.length === 0) return [];
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const marked = facts.podsOf(workload).filter((pod) => evictedByTaint(facts, pod));
      const events = podEventsOf(facts, workload, /^TaintManagerEviction$/).filter(
        (event) => !/^Cancel/.test(event.message) && minutesBetween(event.lastAt, facts.now) <= recentMinutes,
      );
      if (marked.length + events.length === 0) return [];
      const homes = new Set(marked.map((pod) => pod.spec?.nodeName));
      const causes = tainted.filter(({ node }) => homes.size === 0 || homes.has(node.metadata.name));
      const [first] = causes;
      if (!first) return [];
      const ill = first.node.spec.taints.some((taint: any) => /not-ready|unreachable/.test(taint.key));
      if (ill) return [];
      const writer = lastWriter(first.node, 'f:taints');
      const key = `${first.taint.key}${first.taint.value ? `=${first.taint.value}` : ''}:NoExecute`;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'eviction',
          explains: ['pending', 'scheduling', 'probe', 'rollout', 'application-error', 'unknown-symptom'],
          owner: 'platform',
          boundary: 'node',
          strength: marked.length > 0 ? 'direct' : 'derived',
          cause: text(
            `${Math.max(marked.length, events.length)} pods of ${nameOf(workload)} were evicted because ${causes.length === 1 ? `node ${first.node.metadata.name} bears` : `${causes.length} nodes bear`} the taint ${key}, which they do not tolerate${writer ? `; the taints were last written at ${writer.time} by ${writer.manager}` : ''}.`,
          ),
          root: refOf(first.node),
          affects: [workload, ...facts.podsOf(workload)].map(refOf),
          onset: earliest(first.taint.timeAdded, ...events.map((event) => event.firstAt)),
          evidence: [
            ...causes.slice(0, 2).map(({ node }) => evidence.field(node, 'spec.taints')),
            ...marked.slice(0, 2).map((pod) => evidence.condition(pod, 'DisruptionTarget')),
            ...events.slice(-2).map((event) => evidence.event(event)),
          ],
          chain: [link(first.node, `tainted ${key}`), link(workload, 'its pods do not tolerate it')],
          nextSteps: [
            text(
              `Ask whoever tainted the nodes; take it off with kubectl taint node ${first.node.metadata.name} ${first.taint.key}-, or let the pods tolerate it.`,
            ),
          ],
        },
      ];
    });
  },
});

const evictedByTaint = (facts: ClusterFacts, pod: KubeObject): boolean => {
  const target = condition(pod, 'DisruptionTarget');
  return (
    target?.status === 'True' &&
    target.reason === 'DeletionByTaintManager' &&
    !(minutesBetween(target.lastTransitionTime, facts.now) > recentMinutes)
  );
};
