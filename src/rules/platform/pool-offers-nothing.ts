import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { launchFailures } from '../../facts/capacity/launches.ts';
import { nodeClassOf, requirementsOf, zoneLabel } from '../../facts/capacity/pools.ts';
import { requestOf } from '../../facts/capacity/requests.ts';
import { relevantRefusals, type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { largestOf } from '../../facts/nodes/instance-types.ts';
import { quantity } from '../../facts/quantity.ts';
import { rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

export default rule({
  title:
    'The pool’s requirements and its class leave no type, zone or purchase option to launch: no launch is even tried',
  lookAlikes: [
    'offerings that are marked unavailable after a real shortage',
    'a pod larger than any type, or a pool at its limit, in the same words',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const refusals = relevantRefusals(group).filter((refusal) =>
        ['offering', 'filtered', 'min-values'].includes(refusal.kind),
      );
      const pool =
        group.candidates.find(
          (candidate) =>
            refusals.some((refusal) => refusal.pool === candidate.metadata.name) ||
            (refusals.length === 0 && (filtered(facts, candidate) || neverMeet(facts, candidate, group))),
        ) ?? (refusals.length > 0 ? group.candidates[0] : undefined);
      if (!pool || isFull(pool) || tooLarge(group, pool)) return [];
      return findingOf(
        facts,
        group,
        pool,
        refusals.some((refusal) => refusal.kind === 'min-values'),
      );
    });
  },
});

const filtered = (facts: ClusterFacts, pool: KubeObject): KubeEvent | undefined =>
  facts.eventsAbout(pool, 'NoCompatibleInstanceTypes').at(-1);

/** The pool's zones and its class's subnets cannot meet, and no other pool is there: true without a word of Karpenter's. */
const neverMeet = (facts: ClusterFacts, pool: KubeObject, group: WaitingGroup): boolean => {
  const asked = valuesOf(pool.spec?.template?.spec?.requirements ?? [], zoneLabel);
  const offered: string[] = (nodeClassOf(facts, pool)?.status?.subnets ?? []).map((subnet: any) => subnet.zone);
  return (
    group.candidates.length === 1 &&
    asked.length > 0 &&
    offered.length > 0 &&
    !asked.some((zone) => offered.includes(zone))
  );
};

const isFull = (pool: KubeObject): boolean =>
  Object.entries<string>(pool.spec?.limits ?? {}).some(
    ([resource, limit]) => quantity(pool.status?.resources?.[resource]) >= 0.95 * quantity(limit),
  );

const tooLarge = (group: WaitingGroup, pool: KubeObject): boolean => {
  const largest = largestOf(pool);
  return (
    largest !== undefined &&
    (['cpu', 'memory'] as const).some((resource) => requestOf(group.sample, resource) >= largest[resource])
  );
};

const findingOf = (facts: ClusterFacts, group: WaitingGroup, pool: KubeObject, minValues: boolean) => {
  const nodeClass = nodeClassOf(facts, pool);
  const asked = valuesOf(pool.spec?.template?.spec?.requirements ?? [], zoneLabel);
  const own = valuesOf(requirementsOf(group.sample).flat(), zoneLabel);
  const offered: string[] = (nodeClass?.status?.subnets ?? []).map((subnet: any) => subnet.zone);
  const apart = (zones: string[]): boolean =>
    zones.length > 0 && offered.length > 0 && !zones.some((zone) => offered.includes(zone));
  const cached = launchFailures(facts).filter((entry) => entry.group === pool.metadata.name);
  const removed = cachedShortage(facts, pool);
  // A refused launch explains the missing offering better than the requirements do; its own rule speaks.
  if (cached.length > 0) return [];
  const shortage = removed !== undefined && !apart(asked);
  const byPod = !apart(asked) && apart(own);
  const owner = shortage ? ('cloud' as const) : byPod ? ('app' as const) : ('platform' as const);
  const evidence = cite(owner, facts);
  const event = filtered(facts, pool);
  const why = apart(asked)
    ? `it asks for zone ${asked.join(', ')} while ${nodeClass?.kind} ${nodeClass?.metadata.name} has subnets in ${offered.join(', ')} only`
    : byPod
      ? `the pod asks for zone ${own.join(', ')}, where ${nodeClass?.kind} ${nodeClass?.metadata.name} has no subnet (it has ${offered.join(', ')})`
      : shortage
        ? `its offerings were taken out after the vendor reported a shortage (${removed.reason})`
        : minValues
          ? 'its minValues demand more kinds of machines than its requirements leave'
          : 'its requirements leave none';
  return [
    {
      mechanism: shortage ? ('launch-failed' as const) : ('pool-mismatch' as const),
      explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
      owner,
      boundary: shortage ? ('capacity' as const) : byPod ? ('scheduling' as const) : ('provisioning' as const),
      strength: apart(asked) || minValues ? ('direct' as const) : ('derived' as const),
      cause: text(
        `NodePool ${pool.metadata.name} has no offering left for ${nameOf(group.workload)}: ${why}; ${group.pods.length} pods wait and no launch was tried.`,
      ),
      root: refOf(byPod ? group.workload : pool),
      affects: [...group.pods.map(refOf), refOf(pool)],
      onset: group.since,
      evidence: [
        ...(event ? [evidence.event(event)] : []),
        ...refusalEvidence(evidence, group),
        evidence.field(pool, 'spec.template.spec.requirements'),
        ...(nodeClass ? [evidence.field(nodeClass, 'status.subnets')] : []),
        ...(removed ? [evidence.log(removed.log, removed.line)] : []),
      ],
      chain: [{ object: `NodePool ${pool.metadata.name}`, uid: pool.metadata.uid, claim: why }, ...waitingChain(group)],
      contributing: [],
      nextSteps: [
        text(
          apart(asked)
            ? `Let the pool’s zones and the subnets of ${nodeClass?.kind} ${nodeClass?.metadata.name} meet: add a subnet in ${asked.join(', ')} or change the pool’s zones.`
            : `Widen the requirements of NodePool ${pool.metadata.name} (types, zones, purchase options) until one offering is left.`,
        ),
      ],
    },
  ];
};

const valuesOf = (requirements: any[], key: string): string[] =>
  requirements.filter((entry) => entry.key === key && entry.operator === 'In').flatMap((entry) => entry.values ?? []);

/** Karpenter's own line when it takes an offering out for some minutes after a shortage. */
const cachedShortage = (facts: ClusterFacts, pool: KubeObject) => {
  const types = JSON.stringify(pool.spec?.template?.spec?.requirements ?? []);
  for (const log of facts.logs.filter((entry) => /^karpenter/.test(entry.pod)))
    for (const line of log.text.split('\n').reverse()) {
      const type = /"instance-type":"([^"]+)"/.exec(line)?.[1] ?? '';
      const reason = /"reason":"([^"]+)"/.exec(line)?.[1] ?? '';
      if (
        /removing offering from offerings/.test(line) &&
        /InsufficientInstanceCapacity/.test(reason) &&
        types.includes(type)
      )
        return { log, line, reason };
    }
  return undefined;
};
