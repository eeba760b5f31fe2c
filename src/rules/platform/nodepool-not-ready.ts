import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeClassOf } from '../../facts/capacity/pools.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, conditionsOf, isNotTrue, isTrue } from '../../facts/conditions.ts';
import { minutesBetween, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';
import { stoppedBy } from '../pool-state.ts';

/** Reasons that other rules know more about. */
const elsewhere = /UnauthorizedNodeRole/;
/** A root condition only repeats its dependents. */
const derived = /^(UnhealthyDependents|ReconcilingDependents|DependenciesNotReady|NodeClassNotReady)$/;
const waitsForSomething = /^(AwaitingReconciliation|KubernetesUpgrade|CheckingClusterRequirements\w*)$/;
/** A class is resolved within a minute; what still waits after this is stuck. */
const settleMinutes = 10;
/** A vendor's error while resolving, rather than a selector that finds nothing. */
const vendorFault = /UnknownError|Internal(Server)?Error|ServiceUnavailable|RequestLimitExceeded/;

export default rule({
  title:
    'The NodePool that matches the waiting pods is not ready: its NodeClass does not resolve subnets, groups, image, profile or permissions',
  lookAlikes: [
    'the scheduler’s “Insufficient cpu”, which only speaks of the nodes that exist',
    'an unready pool that none of the waiting pods could use',
  ],
  judge(facts, scope) {
    return facts.all('NodePool').flatMap((pool) => {
      const fault = faultOf(facts, pool);
      if (!fault) return [];
      const waiting = stoppedBy(facts, pool);
      if (waiting.length === 0 && !scope.pools.includes(pool) && !scope.wide) return [];
      const { object, reason, message } = fault;
      const evidence = cite('platform', facts);
      const unclear = vendorFault.test(`${reason} ${message}`);
      return [
        {
          mechanism: 'pool-not-ready' as const,
          explains: [
            'pending' as const,
            'scheduling' as const,
            'rollout' as const,
            'unknown-symptom' as const,
            'pool-mismatch' as const,
          ],
          owner: unclear ? ('undetermined' as const) : ('platform' as const),
          boundary: 'provisioning' as const,
          strength: unclear
            ? ('circumstantial' as const)
            : waiting.length > 0 || scope.pools.includes(pool)
              ? ('direct' as const)
              : ('derived' as const),
          cause: text(
            `NodePool ${pool.metadata.name} cannot make nodes: ${object.kind} ${object.metadata.name} reports ${reason}${message ? ` (“${message}”)` : ''}${selectorOf(object, fault.type)}; ${waiting.length} pods wait for it.`,
          ),
          root: refOf(object),
          affects: [...waiting.map(refOf), refOf(pool), refOf(object)],
          onset: sinceOf(waiting, fault.since),
          evidence: [
            evidence.condition(object, fault.type),
            evidence.condition(pool, isNotTrue(pool, 'NodeClassReady') ? 'NodeClassReady' : 'Ready'),
            ...(object === pool ? [] : [evidence.field(object, 'spec')]),
            ...subnetTags(facts, fault.type).map(({ index, subnet }) =>
              evidence.aws('ec2.describeSubnets', `Subnets[${index}].Tags`, subnet.Tags, subnet.SubnetId),
            ),
          ],
          chain: [
            {
              object: `${object.kind} ${object.metadata.name}`,
              uid: object.metadata.uid,
              claim: `${fault.type}: ${reason}`,
            },
            { object: `NodePool ${pool.metadata.name}`, uid: pool.metadata.uid, claim: 'not Ready' },
            ...waiting.slice(0, 3).map((pod) => ({
              object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
              uid: pod.metadata.uid,
              claim: 'no pool can make a node for it',
            })),
          ],
          nextSteps: [
            text(
              `Correct what ${fault.type} names in ${object.kind} ${object.metadata.name}: kubectl get ${object.kind.toLowerCase()} ${object.metadata.name} -o yaml`,
            ),
          ],
          missing: unclear
            ? [
                {
                  layer: 'cloud' as const,
                  missing: 'the vendor’s answer behind this condition',
                  fix: 'read the controller’s log and the audit trail of the describing call',
                },
              ]
            : [],
        },
      ];
    });
  },
});

interface Fault {
  object: KubeObject;
  type: string;
  reason: string;
  message: string;
  since?: string;
}

/** The innermost condition that is not True: of the class, else of the pool; nothing while it is still being resolved. */
const faultOf = (facts: ClusterFacts, pool: KubeObject): Fault | undefined => {
  if (!isNotTrue(pool, 'Ready') && !isNotTrue(pool, 'NodeClassReady')) return undefined;
  const nodeClass = nodeClassOf(facts, pool);
  const candidates = [nodeClass, pool]
    .filter((object) => object !== undefined)
    .flatMap((object) =>
      conditionsOf(object)
        .filter(
          (entry) => entry.status !== 'True' && entry.type !== 'Ready' && entry.type !== 'NodeRegistrationHealthy',
        )
        .map((entry) => ({ object, entry })),
    )
    .filter(
      ({ entry }) =>
        !derived.test(entry.reason ?? '') &&
        !(
          waitsForSomething.test(entry.reason ?? '') &&
          minutesBetween(entry.lastTransitionTime, facts.now) < settleMinutes
        ),
    );
  const found = candidates.find(({ entry }) => entry.status === 'False') ?? candidates[0];
  if (!found) return undeclared(pool, nodeClass);
  if (elsewhere.test(found.entry.reason ?? '')) return undefined;
  const { object, entry } = found;
  return {
    object,
    type: entry.type,
    reason: entry.reason ?? entry.status,
    message: entry.message ?? '',
    since: entry.lastTransitionTime,
  };
};

/** Only the derived condition is left: the pool says it is not ready, and its class is gone or silent. */
const undeclared = (pool: KubeObject, nodeClass: KubeObject | undefined): Fault | undefined => {
  const entry = condition(pool, 'NodeClassReady') ?? condition(pool, 'Ready');
  if (entry?.status !== 'False' || (nodeClass && isTrue(nodeClass, 'Ready'))) return undefined;
  if (/UnauthorizedNodeRole/.test(JSON.stringify(nodeClass?.status ?? {}))) return undefined;
  return {
    object: pool,
    type: entry.type,
    reason: entry.reason ?? 'False',
    message: entry.message ?? '',
    since: entry.lastTransitionTime,
  };
};

const selectors: Record<string, string> = {
  SubnetsReady: 'subnetSelectorTerms',
  SecurityGroupsReady: 'securityGroupSelectorTerms',
  AMIsReady: 'amiSelectorTerms',
  PlacementGroupReady: 'placementGroupSelector',
  CapacityReservationsReady: 'capacityReservationSelectorTerms',
};

const selectorOf = (object: KubeObject, type: string): string => {
  const selector = object.spec?.[selectors[type] ?? ''];
  return selector ? `; it selects ${JSON.stringify(selector)}` : '';
};

const subnetTags = (facts: ClusterFacts, type: string): { index: number; subnet: any }[] =>
  type === 'SubnetsReady'
    ? ((facts.cloud('ec2.describeSubnets')?.Subnets ?? []) as any[])
        .map((subnet, index) => ({ subnet, index }))
        .slice(0, 2)
    : [];

/** A class that was never ready harms from the moment the first pod waited. */
const sinceOf = (waiting: KubeObject[], since: string | undefined): string | undefined => {
  const first = waiting.map((pod) => pod.metadata.creationTimestamp ?? '').sort()[0];
  return first && (!since || toMs(first) > toMs(since)) ? first : since;
};
