import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeMisfits } from '../../facts/capacity/pools.ts';
import { requestOf } from '../../facts/capacity/requests.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { names } from '../../facts/nodes/node-group.ts';
import { isSystemTaint } from '../../facts/nodes/taints.ts';
import { isFinished } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

const cordon = 'node.kubernetes.io/unschedulable';
/** A drain that has just begun takes its nodes away anyway. */
const settledMinutes = 20;
const maintenance =
  /maint|upgrad|updat|patch|firmware|reboot|drain|repair|kured|quarantin|cordon|migrat|decom|evacuat|hold|burn-?in/i;

export default rule({
  title: 'Ready nodes with room are withheld: left cordoned, or with a maintenance taint that nobody took off',
  lookAlikes: [
    'nodes that are dedicated by taint: some pods tolerate it, or their pool declares it',
    'a node that an autoscaler is just draining',
    'versions from 1.34.2 on hide the taint’s key in the scheduler’s message: the nodes tell',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group): FindingDraft[] => {
      const withheld = facts.all('Node').flatMap((node) => withheldBy(facts, group, node));
      if (withheld.length === 0 || group.workload.kind === 'DaemonSet') return [];
      const nodes = withheld.map((entry) => entry.node);
      const keys = [...new Set(withheld.flatMap((entry) => entry.keys))];
      const writer = lastWriter(nodes[0]!, keys[0] === cordon ? 'f:unschedulable' : 'f:taints');
      const since = withheld.map((entry) => entry.since).find((time) => time !== undefined) ?? writer?.time;
      const how = keys.includes(cordon) ? 'cordoned' : `tainted ${keys.join(', ')}`;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'pool-mismatch',
          explains: ['pool-limit', 'pending', 'scheduling', 'rollout', 'unknown-symptom'],
          owner: 'platform',
          boundary: 'scheduling',
          strength: 'direct',
          cause: text(
            `${nodes.length} Ready node${nodes.length === 1 ? '' : 's'} with room for ${nameOf(group.workload)} (${names(nodes)}) ${nodes.length === 1 ? 'is' : 'are'} still ${how}${writer?.manager ? ` by ${writer.manager}` : ''}${since ? `, for ${duration(minutesBetween(since, facts.now))}` : ''}, so ${group.pods.length} pods wait.`,
          ),
          root: refOf(nodes[0]!),
          affects: group.pods.map(refOf),
          onset: group.since,
          evidence: [
            ...refusalEvidence(evidence, group),
            ...nodes.slice(0, 3).map((node) => evidence.field(node, 'spec.taints', node.spec?.taints ?? 'cordoned')),
            ...nodes.slice(0, 1).map((node) => evidence.condition(node, 'Ready')),
            ...(writer ? [evidence.field(nodes[0]!, 'metadata.managedFields', writer)] : []),
          ],
          chain: [...nodes.slice(0, 3).map((node) => link(node, how)), ...waitingChain(group)],
          nextSteps: [
            text(
              keys.includes(cordon)
                ? `If the maintenance is over: kubectl uncordon ${names(nodes, 6).replaceAll(',', '')}`
                : `If the maintenance is over: kubectl taint nodes ${nodes.map((node) => node.metadata.name).join(' ')} ${keys.map((key) => `${key}-`).join(' ')}`,
            ),
            text('Find why the tool that withheld them did not give them back, before it does so on the next nodes.'),
          ],
        },
      ];
    });
  },
});

interface Withheld {
  node: KubeObject;
  keys: string[];
  since?: string;
}

const withheldBy = (facts: ClusterFacts, group: WaitingGroup, node: KubeObject): Withheld[] => {
  if (!isTrue(node, 'Ready') || node.metadata.deletionTimestamp || facts.claimOf(node)?.metadata.deletionTimestamp)
    return [];
  const misfits = nodeMisfits(facts, group.sample, node);
  const keys = [...new Set([...misfits.map((entry) => entry.key), ...(node.spec?.unschedulable ? [cordon] : [])])];
  const onlyHolds =
    misfits.every((entry) => entry.kind === 'taint') &&
    keys.every((key) => key === cordon || isLeftTaint(facts, node, key));
  const since = (node.spec?.taints ?? []).find((taint: any) => keys.includes(taint.key))?.timeAdded as
    | string
    | undefined;
  const young = since !== undefined && minutesBetween(since, facts.now) < settledMinutes;
  return keys.length > 0 && onlyHolds && !young && hasRoom(facts, group, node) ? [{ node, keys, since }] : [];
};

/** Nobody tolerates it and no pool declares it: the taint marks a state of the node that somebody meant to end. */
const isLeftTaint = (facts: ClusterFacts, node: KubeObject, key: string): boolean => {
  const taint = (node.spec?.taints ?? []).find((entry: any) => entry.key === key);
  if (!taint || isSystemTaint(key)) return false;
  const declared = facts
    .all('NodePool')
    .some((pool) =>
      [...(pool.spec?.template?.spec?.taints ?? []), ...(pool.spec?.template?.spec?.startupTaints ?? [])].some(
        (entry: any) => entry.key === key,
      ),
    );
  const wanted = facts
    .all('Pod')
    .some(
      (pod) =>
        facts.workloadOf(pod).kind !== 'DaemonSet' &&
        (pod.spec?.tolerations ?? []).some((toleration: any) => toleration.key === key),
    );
  const intruders = facts
    .podsOn(node.metadata.name)
    .some(
      (pod) =>
        facts.workloadOf(pod).kind !== 'DaemonSet' &&
        !isFinished(pod) &&
        !pod.spec?.tolerations?.some((t: any) => !t.key),
    );
  return !declared && !wanted && (maintenance.test(`${key} ${taint.value ?? ''}`) || intruders);
};

const hasRoom = (facts: ClusterFacts, group: WaitingGroup, node: KubeObject): boolean =>
  ['cpu', 'memory'].every((resource) => {
    const used = facts
      .podsOn(node.metadata.name)
      .filter((pod) => !isFinished(pod))
      .reduce((sum, pod) => sum + requestOf(pod, resource), 0);
    return quantity(node.status?.allocatable?.[resource]) - used >= requestOf(group.sample, resource);
  });
