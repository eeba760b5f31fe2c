import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { reachOf, replicaGrowth, trafficGrowth } from '../../facts/capacity/growth.ts';
import { amount, requestOf } from '../../facts/capacity/requests.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { quantity } from '../../facts/quantity.ts';
import type { Scope } from '../../facts/scope.ts';
import { firstValue, lastValue, risesAt } from '../../facts/series.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type Rollout, rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A release asks for so much more of each pod, and in all for so large a part of a node, before nodes grow by it. */
const raisedFactor = 1.5;
const wholeNodes = 1;
/** Nodes follow requests within minutes; what grew hours after the rollout grew by something else. */
const followMinutes = 4 * 60;
/** The pool's requested sum rises within this of the rollout. */
const jumpMinutes = 20;

export default rule({
  title: 'Nodes multiplied because a release raised what each pod requests, at the same replicas',
  lookAlikes: [
    'the replicas grew: load, a leak or an autoscaler',
    'pods that request more than their template states: an admission controller or a VPA',
    'nodes grew at the same requests: the pool changed',
  ],
  judge(facts, scope) {
    if (!scope.wide && scope.pools.length === 0 && scope.subjectNodes.length === 0) return [];
    return [...facts.all('Deployment'), ...facts.all('StatefulSet')].flatMap((workload) =>
      raisesOf(facts, workload)
        .slice(0, 1)
        .flatMap((raise) => findingOf(facts, scope, raise)),
    );
  },
});

interface Raise {
  workload: KubeObject;
  resource: string;
  before: number;
  after: number;
  pods: KubeObject[];
  rollout: Rollout & { previous: KubeObject };
}

const raisesOf = (facts: ClusterFacts, workload: KubeObject): Raise[] => {
  const onset = facts.alerts[0]?.startsAt ?? facts.now;
  const rollout = rolloutBefore(facts, workload, onset, followMinutes);
  const growth = replicaGrowth(facts, workload);
  const previous = rollout?.previous;
  if (!rollout || !previous || (growth && growth.to >= raisedFactor * growth.from)) return [];
  const pods = facts.podsOf(workload);
  return ['cpu', 'memory'].flatMap((resource): Raise[] => {
    const [before, after] = [requestOf(previous, resource), requestOf(rollout.current, resource)];
    const more = (after - before) * (workload.spec?.replicas ?? pods.length);
    const node = nodeSize(facts, pods, resource);
    return before > 0 && after >= raisedFactor * before && node > 0 && more >= wholeNodes * node
      ? [{ workload, resource, before, after, pods, rollout: { ...rollout, previous } }]
      : [];
  });
};

/** What one node that holds such pods offers. */
const nodeSize = (facts: ClusterFacts, pods: KubeObject[], resource: string): number =>
  Math.min(
    ...pods
      .map((pod) => facts.nodeOf(pod))
      .filter((node) => node !== undefined)
      .map((node) => quantity(node.status?.allocatable?.[resource]) || Number.POSITIVE_INFINITY),
  );

const findingOf = (facts: ClusterFacts, scope: Scope, raise: Raise): FindingDraft[] => {
  const { workload, resource, before, after, pods, rollout } = raise;
  const reach = reachOf(facts, workload, pods);
  if (!reach.some((object) => scope.has(refOf(object)))) return [];
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const requested = facts
    .series('karpenter_nodes_total_pod_requests', { resource_type: resource })
    .find((series) => risesAt(series, raisedFactor) !== undefined);
  const jump = requested && risesAt(requested, raisedFactor)!;
  const minutesAfter = jump ? jump / 60 - Date.parse(rollout.at) / 60_000 : Number.NaN;
  const traffic = trafficGrowth(facts, workload);
  const rose = minutesAfter > -jumpMinutes && minutesAfter < jumpMinutes * 2;
  const words = `${amount(resource, before)} to ${amount(resource, after)} of ${resource} a pod`;
  const container = (set: KubeObject) => set.spec?.template?.spec?.containers?.[0];
  const replicas = workload.spec?.replicas ?? pods.length;
  return [
    {
      mechanism: 'load',
      explains: ['autoscaler-growth', 'pool-limit', 'pending', 'scheduling', 'node-churn', 'quota', 'unknown-symptom'],
      owner,
      boundary: 'config',
      strength: rose ? 'direct' : 'derived',
      cause: text(
        `The release of ${nameOf(workload)} at ${rollout.at} raised its requests from ${words} for ${replicas} replicas${traffic && traffic.factor < raisedFactor ? ' at level traffic' : ''}; the autoscaler makes nodes for what is requested${requested ? ` (${requested.name} ${firstValue(requested)} to ${lastValue(requested)})` : ''}.`,
      ),
      root: refOf(workload),
      affects: reach.map(refOf),
      onset: rollout.at,
      evidence: [
        evidence.field(
          rollout.current,
          'spec.template.spec.containers[0].resources',
          JSON.stringify(container(rollout.current)?.resources ?? {}),
          `${container(rollout.current)?.image}, ${duration(minutesBetween(rollout.at, facts.now))} old`,
        ),
        evidence.field(
          rollout.previous,
          'spec.template.spec.containers[0].resources',
          JSON.stringify(container(rollout.previous)?.resources ?? {}),
          `former revision, ${container(rollout.previous)?.image}`,
        ),
        evidence.field(workload, 'spec.replicas'),
        ...(requested
          ? [evidence.series(requested, `requested ${firstValue(requested)} to ${lastValue(requested)}`)]
          : []),
      ],
      chain: [
        link(workload, `requests ${words}`),
        ...reach.filter((object) => object.kind === 'NodePool').map((pool) => link(pool, 'makes nodes for them')),
      ],
      contributing: [],
      nextSteps: [
        text(
          `Compare what its pods use (kubectl top pods -n ${workload.metadata.namespace}) with ${amount(resource, after)}, and lower the request to that: kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} meanwhile.`,
        ),
      ],
    },
  ];
};
