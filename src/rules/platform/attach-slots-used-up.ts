import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeMisfits } from '../../facts/capacity/pools.ts';
import { waitingGroups } from '../../facts/capacity/waiting.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

const full = /exceed max volume count/;

export default rule({
  title: 'Pods with volumes wait because the nodes have used up their attachment slots',
  lookAlikes: [
    'WaitForFirstConsumer on the claims: a normal wait, not the reason',
    'a volume in a zone without nodes',
    'CPU or memory short on most nodes: the autoscaler’s matter',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group): FindingDraft[] => {
      const clause = group.clauses.find((entry) => full.test(entry.reason));
      const refusal = group.refusals.find((entry) => /would exceed volume limit/.test(entry.text));
      const most = Math.max(0, ...group.clauses.filter((entry) => entry !== clause).map((entry) => entry.count));
      if ((!clause && !refusal) || (clause && clause.count < most)) return [];
      const nodes = facts.all('Node').filter((node) => nodeMisfits(facts, group.sample, node).length === 0);
      const slots = nodes.map((node) => slotsOf(facts, node)).filter((entry) => entry !== undefined);
      const used = slots.filter((entry) => entry.attached >= entry.count);
      const evidence = cite('platform', facts);
      const limit = slots[0];
      return [
        {
          mechanism: 'volume',
          explains: ['pending', 'scheduling', 'pool-limit', 'rollout', 'unknown-symptom'],
          owner: 'platform',
          boundary: 'storage',
          strength: clause && most === 0 && group.refusals.length === 0 ? 'direct' : 'derived',
          cause: text(
            `${group.pods.length} pods of ${nameOf(group.workload)} with volumes find no node: ${clause ? `${clause.count} nodes` : 'the nodes'} have no attachment slot left${limit ? ` (${used.length} of ${slots.length} nodes hold ${limit.count} volumes, the most that ${limit.driver} allows there)` : ''}, and no node is added.`,
          ),
          root: refOf(limit?.csiNode ?? group.workload),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...slots
              .slice(0, 2)
              .map((entry) =>
                evidence.field(
                  entry.csiNode,
                  `spec.drivers[${entry.driver}].allocatable.count`,
                  entry.count,
                  `${entry.attached} volumes attached`,
                ),
              ),
          ],
          chain: [
            ...used.slice(0, 2).map((entry) => link(entry.csiNode, `${entry.attached} of ${entry.count} slots used`)),
            ...waitingChain(group),
          ],
          contributing: [
            {
              owner: 'app',
              action: text(`Delete claims of finished work, and share volumes where ${nameOf(group.workload)} can.`),
            },
          ],
          nextSteps: [
            text(
              'Add nodes, or types with more attachment slots, or raise the driver’s volumeAttachLimit where it was set too low: kubectl get csinodes -o custom-columns=NAME:.metadata.name,SLOTS:.spec.drivers[*].allocatable.count',
            ),
            text('Release attachments that nothing uses: kubectl get volumeattachments'),
          ],
        },
      ];
    });
  },
});

interface Slots {
  csiNode: KubeObject;
  driver: string;
  count: number;
  attached: number;
}

/** Slots of the node's storage driver with the fewest, and how many are taken. */
const slotsOf = (facts: ClusterFacts, node: KubeObject): Slots | undefined => {
  const csiNode = facts.find('CSINode', node.metadata.name);
  const drivers: any[] = (csiNode?.spec?.drivers ?? []).filter(
    (driver: any) => driver.allocatable?.count !== undefined,
  );
  return drivers
    .map((driver) => ({
      csiNode: csiNode!,
      driver: driver.name as string,
      count: driver.allocatable.count as number,
      attached: facts
        .all('VolumeAttachment')
        .filter((entry) => entry.spec?.nodeName === node.metadata.name && entry.spec?.attacher === driver.name).length,
    }))
    .sort((a, b) => b.attached - b.count - (a.attached - a.count))[0];
};
