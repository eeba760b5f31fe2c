import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { misfitsOf, requirementsOf } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isNotTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished, podSpecOf } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { type FailedGroup, failedGroups, vendorText } from '../launches.ts';

export default rule({
  title:
    'A fallback pool holds nodes because workloads ask for it by label, or because the preferred pool cannot serve',
  lookAlikes: [
    'pinned workloads while the preferred pool has room',
    'ordinary pods that spill over from a full or unready pool',
    'the vendor has no machines for the preferred pool, which is below its limit',
  ],
  judge(facts, scope) {
    return scope.pools.flatMap((pool) => {
      const preferred = facts.all('NodePool').filter((other) => weight(other) > weight(pool));
      const workloads = tenantsOf(facts, pool);
      if (preferred.length === 0 || workloads.length === 0) return [];
      const pinned = workloads.filter((workload) => asksFor(facts, workload, pool, preferred));
      if (pinned.length >= 0.8 * workloads.length) return [askedFor(facts, pool, preferred, pinned)];
      const blocked = preferred
        .map((other) => ({ pool: other, why: whyClosed(other) }))
        .filter(({ why }) => why !== '');
      if (pinned.length > 0.2 * workloads.length) return [];
      if (blocked.length > 0) return [spilled(facts, pool, blocked[0]!, workloads)];
      const refused = failedGroups(facts, ['shortage']).find(
        (group) => group.pool && preferred.includes(group.pool) && preferred.length === 1,
      );
      return refused ? [notServed(facts, pool, refused, workloads)] : [];
    });
  },
});

const weight = (pool: KubeObject): number => pool.spec?.weight ?? 0;

/** Workloads whose pods run on the pool's nodes, agents of every node aside. */
const tenantsOf = (facts: ClusterFacts, pool: KubeObject): KubeObject[] => {
  const nodes = facts
    .all('Node')
    .filter((node) => node.metadata.labels?.['karpenter.sh/nodepool'] === pool.metadata.name);
  const pods = nodes
    .flatMap((node) => facts.podsOn(node.metadata.name))
    .filter((pod) => !isFinished(pod) && facts.ownerOf(pod)?.kind !== 'DaemonSet');
  return [...new Map(pods.map((pod) => [nameOf(facts.workloadOf(pod)), facts.workloadOf(pod)])).values()].filter(
    (workload) => facts.podsOf(workload).length > 0,
  );
};

/** It selects something that this pool has and no preferred pool offers. */
const asksFor = (facts: ClusterFacts, workload: KubeObject, pool: KubeObject, preferred: KubeObject[]): boolean => {
  const pod = facts.podsOf(workload)[0]!;
  return (
    requirementsOf(pod).some((term) => term.length > 0) &&
    misfitsOf(facts, pod, pool).length === 0 &&
    preferred.every((other) => misfitsOf(facts, pod, other).length > 0)
  );
};

const whyClosed = (pool: KubeObject): string => {
  if (isNotTrue(pool, 'Ready')) return 'is not ready';
  const full = Object.entries<string>(pool.spec?.limits ?? {}).find(
    ([resource, limit]) => quantity(pool.status?.resources?.[resource]) >= 0.9 * quantity(limit),
  );
  return full ? `is at its limit (${pool.status?.resources?.[full[0]]} of ${full[1]} ${full[0]})` : '';
};

const base = {
  mechanism: 'autoscaler-growth' as const,
  explains: ['pool-limit' as const, 'unknown-symptom' as const],
};

const askedFor = (
  facts: ClusterFacts,
  pool: KubeObject,
  preferred: KubeObject[],
  pinned: KubeObject[],
): FindingDraft => {
  const owner = pinned.every((workload) => ownershipOf(facts, workload) === 'platform')
    ? ('platform' as const)
    : ('app' as const);
  const evidence = cite(owner, facts);
  const room = preferred.find((other) => whyClosed(other) === '');
  return {
    ...base,
    owner,
    boundary: 'config' as const,
    strength: room ? ('direct' as const) : ('derived' as const),
    cause: text(
      `The nodes of NodePool ${pool.metadata.name} are there because ${pinned.slice(0, 3).map(nameOf).join(', ')} select it (${JSON.stringify(selectorOf(facts, pinned[0]!))})${room ? `; NodePool ${room.metadata.name} is ready and below its limit` : ''}.`,
    ),
    root: refOf(pinned[0]!),
    affects: [refOf(pool), ...pinned.map(refOf)],
    evidence: [
      ...pinned
        .slice(0, 3)
        .map((workload) =>
          evidence.field(facts.podsOf(workload)[0]!, 'spec.nodeSelector', selectorOf(facts, workload)),
        ),
      evidence.field(pool, 'spec.template.metadata.labels'),
      ...(room ? [evidence.field(room, 'status.resources'), evidence.field(room, 'spec.limits')] : []),
    ],
    chain: [
      ...pinned.slice(0, 3).map((workload) => link(workload, `selects NodePool ${pool.metadata.name}`)),
      link(pool, 'makes nodes for them'),
    ],
    contributing:
      owner === 'app'
        ? [
            {
              owner: 'platform' as const,
              action: text(
                `Guard NodePool ${pool.metadata.name} with a taint, so that nobody lands there by a label alone.`,
              ),
            },
          ]
        : [],
    nextSteps: [
      text(
        `Drop the selector from ${pinned.slice(0, 3).map(nameOf).join(', ')}, so that the preferred pool takes them.`,
      ),
    ],
  };
};

/** The preferred pool has room, and the vendor has no machine for it: the fallback does what it is for. */
const notServed = (
  facts: ClusterFacts,
  pool: KubeObject,
  group: FailedGroup,
  workloads: KubeObject[],
): FindingDraft => {
  const evidence = cite('cloud', facts);
  const preferred = group.pool!;
  return {
    ...base,
    owner: 'cloud' as const,
    boundary: 'capacity' as const,
    strength: 'derived' as const,
    cause: text(
      `The vendor has no machines for NodePool ${preferred.metadata.name}, which is preferred and below its limit: “${vendorText(group)}” (${group.attempts}×); ordinary pods (${workloads.slice(0, 3).map(nameOf).join(', ')}) go to NodePool ${pool.metadata.name} meanwhile.`,
    ),
    root: group.last.object,
    affects: [refOf(pool), refOf(preferred)],
    onset: group.failures[0]?.since,
    evidence: [
      ...group.failures.slice(-3).map((failure) => failure.cite(evidence)),
      evidence.field(preferred, 'spec.limits'),
      evidence.field(preferred, 'status.resources'),
      ...workloads
        .slice(0, 2)
        .map((workload) => evidence.field(facts.podsOf(workload)[0]!, 'spec.nodeSelector', 'none')),
    ],
    chain: [link(preferred, 'is refused machines'), link(pool, 'takes its pods')],
    contributing: [
      {
        owner: 'platform' as const,
        action: text(
          `Let NodePool ${preferred.metadata.name} choose more instance types, so that it is served sooner.`,
        ),
      },
    ],
    nextSteps: [
      text('Nothing waits; open a capacity case with the vendor if the refusals go on, naming type, zone and times.'),
    ],
  };
};

const selectorOf = (facts: ClusterFacts, workload: KubeObject): unknown => {
  const spec = podSpecOf(facts.podsOf(workload)[0] ?? workload);
  return spec?.nodeSelector ?? spec?.affinity?.nodeAffinity ?? {};
};

const spilled = (
  facts: ClusterFacts,
  pool: KubeObject,
  closed: { pool: KubeObject; why: string },
  workloads: KubeObject[],
): FindingDraft => {
  const evidence = cite('platform', facts);
  const excluded = facts.logs
    .filter((log) => /^karpenter/.test(log.pod))
    .flatMap((log) => log.text.split('\n').map((line) => ({ log, line })))
    .filter(({ line }) => /breach limits|exceed limits/.test(line) && line.includes(`"${closed.pool.metadata.name}"`))
    .slice(-1);
  const limits = facts.series('karpenter_nodepools_limit', { nodepool: closed.pool.metadata.name }).slice(0, 1);
  const usage = facts.series('karpenter_nodepools_usage', { nodepool: closed.pool.metadata.name }).slice(0, 1);
  return {
    ...base,
    owner: 'platform' as const,
    boundary: 'provisioning' as const,
    strength: 'direct' as const,
    cause: text(
      `NodePool ${closed.pool.metadata.name}, which is preferred, ${closed.why}; ordinary pods (${workloads.slice(0, 3).map(nameOf).join(', ')}) that select nothing spill into NodePool ${pool.metadata.name}.`,
    ),
    root: refOf(closed.pool),
    affects: [refOf(pool), refOf(closed.pool)],
    evidence: [
      evidence.field(closed.pool, 'spec.limits'),
      evidence.field(closed.pool, 'status.resources'),
      ...excluded.map(({ log, line }) => evidence.log(log, line)),
      ...[...limits, ...usage].map((series) => evidence.series(series, `last ${series.points.at(-1)?.[1]}`)),
      ...workloads
        .slice(0, 2)
        .map((workload) => evidence.field(facts.podsOf(workload)[0]!, 'spec.nodeSelector', 'none')),
    ],
    chain: [link(closed.pool, closed.why), link(pool, 'takes what spills over')],
    nextSteps: [text(`Raise the limit of NodePool ${closed.pool.metadata.name}, or free room in it.`)],
  };
};
