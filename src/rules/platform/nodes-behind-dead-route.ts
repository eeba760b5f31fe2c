import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { trailOf } from '../../facts/aws.ts';
import { claimsOfPool, poolOf, waitingFor } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { changesNetwork } from '../../facts/network/network-trail.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Karpenter gives a machine 15 minutes to join; in a few it usually has. */
const joinMinutes = 5;

export default rule({
  title: 'New machines start and never join, and their subnet’s default route leads nowhere',
  lookAlikes: [
    'a role without an access entry: machines of all zones fail',
    'user data or an image that is wrong: machines of one pool fail in every zone',
    'a route that was dead before machines last joined there',
  ],
  judge(facts) {
    const lost = facts
      .all('NodeClaim')
      .filter(
        (claim) =>
          isTrue(claim, 'Launched') &&
          !isTrue(claim, 'Registered') &&
          minutesBetween(claim.metadata.creationTimestamp, facts.now) >= joinMinutes,
      );
    const pools = [...new Set([...lost.map((claim) => poolOf(facts, claim)), ...unhealthyPools(facts)])].filter(
      (pool) => pool !== undefined,
    );
    const dead = deadRoutes(facts);
    if (pools.length === 0 || dead.length === 0) return [];
    return [findingOf(facts, lost, pools, dead)];
  },
});

const unhealthyPools = (facts: ClusterFacts): KubeObject[] =>
  facts.all('NodePool').filter((pool) => condition(pool, 'NodeRegistrationHealthy')?.status === 'False');

interface DeadRoute {
  table: any;
  route: any;
  subnets: string[];
}

/** Routes to the world whose gateway is gone, in tables that subnets use. */
const deadRoutes = (facts: ClusterFacts): DeadRoute[] =>
  ((facts.cloud('ec2.describeRouteTables')?.RouteTables ?? []) as any[]).flatMap((table) => {
    const subnets = (table.Associations ?? []).filter((entry: any) => entry.SubnetId || entry.Main);
    return (table.Routes ?? [])
      .filter((route: any) => route.State === 'blackhole' && /^(0\.0\.0\.0\/0|::\/0)$/.test(route.DestinationCidrBlock))
      .filter(() => subnets.length > 0)
      .map((route: any) => ({ table, route, subnets: subnets.map((entry: any) => entry.SubnetId ?? 'main') }));
  });

const findingOf = (facts: ClusterFacts, lost: KubeObject[], pools: KubeObject[], dead: DeadRoute[]): FindingDraft => {
  const evidence = cite('platform', facts);
  const { table, route, subnets } = dead[0]!;
  const target: string = route.NatGatewayId ?? route.GatewayId ?? route.TransitGatewayId ?? 'its gateway';
  const change = trailOf(facts)
    .filter(changesNetwork)
    .find((event) => event.text.includes(target) || event.text.includes(table.RouteTableId));
  const waiting = pools.flatMap((pool) => waitingFor(facts, pool));
  const zones = [...new Set(lost.map((claim) => claim.metadata.labels?.['topology.kubernetes.io/zone']))].filter(
    Boolean,
  );
  return {
    mechanism: 'network',
    explains: [
      'node-not-joining',
      'node-not-initialized',
      'launch-failed',
      'pending',
      'scheduling',
      'image-pull',
      'rollout',
      'unknown-symptom',
    ],
    owner: 'platform',
    boundary: 'network',
    strength: 'direct',
    cause: text(
      `Machines of NodePool ${pools.map((pool) => pool.metadata.name).join(', ')}${zones.length > 0 ? ` in ${zones.join(', ')}` : ''} start and never join: the default route of route table ${table.RouteTableId} (${subnets.length} subnet${subnets.length === 1 ? '' : 's'}) is a blackhole, ${target} is gone${change ? `, since ${change.name} by ${change.actor} at ${change.at}` : ''}; ${waiting.length} pods wait.`,
    ),
    root: { kind: 'RouteTable', name: table.RouteTableId },
    affects: [...pools, ...lost, ...waiting, ...pools.flatMap((pool) => claimsOfPool(facts, pool))].map(refOf),
    onset: change?.at ?? lost.map((claim) => claim.metadata.creationTimestamp ?? '').sort()[0],
    evidence: [
      evidence.aws(
        'ec2.describeRouteTables',
        `${table.RouteTableId}.Routes`,
        `0.0.0.0/0 ${target} blackhole`,
        subnets.join(' '),
      ),
      ...(change
        ? [
            evidence.aws(
              'cloudtrail.lookupEvents',
              change.name,
              change.actor,
              `${change.arn} ${change.userAgent}`,
              change.at,
            ),
          ]
        : []),
      ...lost.slice(0, 2).map((claim) => evidence.condition(claim, 'Registered')),
      ...pools.slice(0, 1).map((pool) => evidence.condition(pool, 'NodeRegistrationHealthy')),
    ],
    chain: [
      { object: `RouteTable ${table.RouteTableId}`, claim: `its default route to ${target} is a blackhole` },
      ...lost.slice(0, 2).map((claim) => link(claim, 'launched, never registered')),
      ...waiting.slice(0, 2).map((pod) => link(pod, 'waits for a node')),
    ],
    nextSteps: [
      text(
        `Restore ${target} or point the default route of ${table.RouteTableId} to one that lives; stop what removed it${change ? ` (${change.actor})` : ''}.`,
      ),
    ],
  };
};
