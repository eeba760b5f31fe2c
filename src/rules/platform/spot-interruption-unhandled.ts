import type { Evidence } from '../../domain/evidence.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type InterruptionPath, interruptionPath } from '../../facts/nodes/interruption-queue.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { silentSince } from '../../facts/nodes/nodes.ts';
import { type Reclaim, reclaims } from '../../facts/nodes/reclaims.ts';
import type { Scope } from '../../facts/scope.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title:
    'A spot instance was reclaimed with its usual warning, and nothing drained the node, because the warning has no way to the controller',
  lookAlikes: [
    'a host that failed: no reclaim on the trail',
    'a reclaim that the controller saw and drained: the workload’s resilience decides',
  ],
  judge(facts, scope) {
    const undrained = reclaims(facts).filter((reclaim) => !reclaim.announced);
    const path = interruptionPath(facts);
    if (undrained.length === 0 || !path || path.state === 'complete') return [];
    const nodes = undrained.flatMap((reclaim) => reclaim.node ?? []);
    if (nodes.length === 0 && !scope.wide) return [];
    return [findingOf(facts, scope, undrained, nodes, path)];
  },
});

/** An alert in the minutes after a loss, about a namespace that had pods on the lost node: its errors are those pods'. */
const hitByLoss = (facts: ClusterFacts, scope: Scope, undrained: Reclaim[]): KubeObject[] => {
  const near = undrained.filter(({ at, node }) =>
    facts.alerts.some((alert) => {
      const after = minutesBetween(at ?? (node && silentSince(facts, node)), alert.startsAt);
      return after > -2 && after < 10;
    }),
  );
  const namespaces = new Set(
    near.flatMap(({ node }) => (node ? facts.podsOn(node.metadata.name) : [])).map((pod) => pod.metadata.namespace),
  );
  return scope.workloads.filter((workload) => namespaces.has(workload.metadata.namespace));
};

const findingOf = (
  facts: ClusterFacts,
  scope: Scope,
  undrained: Reclaim[],
  nodes: KubeObject[],
  path: InterruptionPath,
) => {
  const evidence = cite('platform', facts);
  const hit = hitByLoss(facts, scope, undrained);
  const certain = path.state !== 'unused-queue' && nodes.some((node) => scope.nodes.includes(node));
  return {
    mechanism: 'node-removed' as const,
    explains: [
      'node-silent' as const,
      'node-churn' as const,
      'eviction' as const,
      'probe' as const,
      'pending' as const,
      'traffic' as const,
      'dependency' as const,
      'unknown-symptom' as const,
    ],
    owner: 'platform' as const,
    boundary: path.state === 'no-queue' ? ('provisioning' as const) : ('config' as const),
    strength: certain || scope.wide ? ('direct' as const) : ('derived' as const),
    cause: text(
      `${undrained.length} spot instance${undrained.length === 1 ? '' : 's'} (${nodes.length > 0 ? names(nodes) : undrained.map((reclaim) => reclaim.instance).join(', ')}) ${undrained.length === 1 ? 'was' : 'were'} reclaimed, and nothing drained ${undrained.length === 1 ? 'it' : 'them'} in the two minutes of warning: ${path.says}.`,
    ),
    root: refOf(path.controller),
    affects: [...harmedBy(facts, nodes), ...hit.map(refOf)],
    onset: earliest(...undrained.map((reclaim) => reclaim.at)),
    evidence: [
      ...path.evidence(evidence),
      ...undrained.slice(0, 2).map((reclaim) => reclaim.cite(evidence)),
      ...nodes.slice(0, 2).map((node): Evidence => evidence.condition(node, 'Ready')),
      ...facts.events
        .filter((event) => event.reason === 'DeletingNode')
        .slice(-1)
        .map((event) => evidence.event(event)),
    ],
    chain: [
      link(path.controller, path.says),
      ...nodes.slice(0, 2).map((node) => link(node, 'reclaimed without a drain')),
    ],
    nextSteps: [text(path.fix)],
  };
};
