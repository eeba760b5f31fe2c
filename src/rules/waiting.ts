import type { Evidence } from '../domain/evidence.ts';
import type { ChainLink } from '../domain/finding.ts';
import type { KubeObject } from '../domain/kubernetes.ts';
import { lastWrite } from '../facts/capacity/pools.ts';
import { templateHistory } from '../facts/capacity/templates.ts';
import type { WaitingGroup } from '../facts/capacity/waiting.ts';
import type { Cite } from '../facts/cite.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { toMs } from '../facts/time.ts';

/** What the scheduler and the autoscalers wrote about a group of waiting pods. */
export const refusalEvidence = (evidence: Cite, group: WaitingGroup): Evidence[] => [
  ...(group.karpenterEvent ? [evidence.event(group.karpenterEvent)] : []),
  ...(group.schedulerEvent && !group.message.startsWith(group.schedulerEvent.message.slice(0, 60))
    ? [evidence.event(group.schedulerEvent)]
    : []),
  group.message && group.sample.status?.conditions?.some((entry: any) => entry.message === group.message)
    ? evidence.condition(group.sample, 'PodScheduled')
    : group.schedulerEvent
      ? evidence.event(group.schedulerEvent)
      : evidence.field(group.sample, 'status.phase'),
  ...(group.autoscalerEvent ? [evidence.event(group.autoscalerEvent)] : []),
];

export const waitingChain = (group: WaitingGroup): ChainLink[] =>
  group.pods.slice(0, 3).map((pod) => ({
    object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
    uid: pod.metadata.uid,
    claim: 'no node takes it',
  }));

export const nameOf = (object: KubeObject): string =>
  `${object.kind} ${object.metadata.namespace ? `${object.metadata.namespace}/` : ''}${object.metadata.name}`;

/** When a pool was last changed: by its managed fields, else by the moment its nodes began to drift away. */
export const poolChangedAt = (facts: ClusterFacts, pool: KubeObject): { at: string; by?: string } | undefined => {
  const write = lastWrite(pool);
  if (write) return { at: write.time, by: write.manager };
  const drift = facts.events.find(
    (event) =>
      /Drifted/.test(event.message) &&
      event.reason.startsWith('Disruption') &&
      event.regarding.name.startsWith(`${pool.metadata.name}-`),
  );
  return drift ? { at: drift.firstAt } : undefined;
};

/** A pod may be replaced some minutes before the pool's own event is written. */
const slackMs = 10 * 60_000;

/** Which came last before the pods began to wait: the template, or the pool. */
export const newerThan = (facts: ClusterFacts, { workload, since }: WaitingGroup, pool: KubeObject | undefined) => {
  const history = templateHistory(facts, workload);
  const change = pool ? poolChangedAt(facts, pool) : undefined;
  return {
    history,
    change,
    poolIsNewer:
      change !== undefined && toMs(change.at) > toMs(history.since) && toMs(change.at) <= toMs(since) + slackMs,
  };
};
