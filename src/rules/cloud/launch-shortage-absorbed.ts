import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { waitingPods } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { unschedulableMessage } from '../../facts/pods.ts';
import { parseSchedulerRefusal } from '../../facts/scheduling.ts';
import { rule } from '../../triage/rule.ts';
import { type FailedGroup, failedGroups, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'A launch was refused for lack of capacity, another one succeeded, and nobody waits any more',
  lookAlikes: ['a pool without alternatives, whose pods still wait'],
  judge(facts, scope) {
    if (scope.troubledPods.length > 0 || waitingPods(facts).some(waitsForRoom)) return [];
    const evidence = cite('platform', facts);
    return failedGroups(facts, ['shortage', 'vague', 'addresses', 'throttled', 'service-error'])
      .filter((group) => !group.open)
      .map((group) => {
        const successor = launchedAfter(facts, group);
        return {
          mechanism: 'launch-failed' as const,
          explains: ['unknown-symptom' as const],
          state: 'over' as const,
          owner: 'undetermined' as const,
          boundary: 'capacity' as const,
          strength: 'derived' as const,
          cause: text(
            `Over: ${nameOfGroup(group)} was refused at ${group.last.at} (“${vendorText(group)}”)${successor ? ` and got ${successor.metadata.labels?.['node.kubernetes.io/instance-type'] ?? 'a machine'} instead (NodeClaim ${successor.metadata.name})` : ''}; no pod waits any more.`,
          ),
          root: group.pool ? refOf(group.pool) : group.last.object,
          affects: [group.last.object, ...(group.pool ? [refOf(group.pool)] : [])],
          evidence: [
            group.last.cite(evidence),
            ...(successor ? [evidence.condition(successor, 'Ready')] : []),
            evidence.absence('pods without a node', 'cluster', 'kubectl get pods -A --field-selector spec.nodeName='),
          ],
          nextSteps: [text('Nothing to do; it is a fault only if pods wait or the refusals go on.')],
        };
      });
  },
});

/** A pod that no node of any size would suit does not wait for the capacity that was short. */
const waitsForRoom = (pod: KubeObject): boolean =>
  parseSchedulerRefusal(unschedulableMessage(pod))?.clauses.some(({ reason }) =>
    /Insufficient|Too many pods/.test(reason),
  ) ?? true;

const launchedAfter = (facts: ClusterFacts, group: FailedGroup): KubeObject | undefined =>
  facts
    .all('NodeClaim')
    .filter((claim) => Boolean(claim.status?.nodeName) && (claim.metadata.creationTimestamp ?? '') >= group.last.since)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1))[0];
