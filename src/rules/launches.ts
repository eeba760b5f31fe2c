import { type KubeObject, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import type { Boundary, Layer, Owner } from '../domain/layer.ts';
import { text } from '../domain/text.ts';
import type { LaunchKind } from '../facts/capacity/launch-kind.ts';
import { type LaunchFailure, launchFailures } from '../facts/capacity/launches.ts';
import { claimsOfPool, nodeClassOf, waitingFor, waitingPods } from '../facts/capacity/pools.ts';
import { cite } from '../facts/cite.ts';
import type { ClusterFacts } from '../facts/cluster.ts';
import { isNotTrue } from '../facts/conditions.ts';
import { earliest, minutesBetween } from '../facts/time.ts';
import type { FindingDraft } from '../triage/rule.ts';

/** All launch failures of one kind that one pool, group or service met, and who waits for them. */
export interface FailedGroup {
  name: string;
  source: LaunchFailure['source'];
  failures: LaunchFailure[];
  last: LaunchFailure;
  pool?: KubeObject;
  nodeClass?: KubeObject;
  waiting: KubeObject[];
  /** The group makes control-plane machines of a self-managed cluster. */
  controlPlane: boolean;
  /** Machines that were refused, however many events and lines speak of each. */
  attempts: number;
  /** No success and nobody satisfied since the last failure. */
  open: boolean;
}

/** After this long without another failure a refusal is history, whoever it hit. */
const staleMinutes = 60;

/** Failures of these kinds, by group; the ones that ended by themselves are marked, not dropped. */
export const failedGroups = (facts: ClusterFacts, kinds: LaunchKind[]): FailedGroup[] => {
  const groups = new Map<string, LaunchFailure[]>();
  for (const entry of launchFailures(facts)) {
    if (!kinds.includes(entry.kind) || minutesBetween(entry.at, facts.now) > staleMinutes) continue;
    const key = entry.source === 'eci' ? `eci/${entry.kind}` : `${entry.source}/${entry.group}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].map((failures) => groupOf(facts, failures));
};

const groupOf = (facts: ClusterFacts, failures: LaunchFailure[]): FailedGroup => {
  const last = failures.at(-1)!;
  const pool = last.source === 'karpenter' ? facts.find('NodePool', last.group) : undefined;
  const waiting = waitingOn(facts, failures, pool);
  return {
    name: last.group,
    source: last.source,
    failures,
    last,
    pool,
    nodeClass: nodeClassOf(facts, pool),
    waiting,
    attempts: new Set(failures.map((entry) => `${entry.object.name} ${entry.source === 'asg' ? entry.at : ''}`)).size,
    controlPlane: /control-plane|master|etcd/i.test(last.source === 'asg' ? last.group : ''),
    open: waiting.length > 0 || isOpen(facts, last, pool),
  };
};

const isOpen = (facts: ClusterFacts, last: LaunchFailure, pool: KubeObject | undefined): boolean => {
  if (pool) return claimsOfPool(facts, pool).some((claim) => isNotTrue(claim, 'Launched'));
  const activities: any[] = facts.cloud('autoscaling.describeScalingActivities')?.Activities ?? [];
  return (
    last.source === 'asg' &&
    !activities.some(
      (activity) =>
        activity.AutoScalingGroupName === last.group &&
        activity.StatusCode === 'Successful' &&
        activity.StartTime > last.at,
    )
  );
};

const waitingOn = (facts: ClusterFacts, failures: LaunchFailure[], pool: KubeObject | undefined): KubeObject[] => {
  const { source, group } = failures[0]!;
  if (source === 'eci') {
    const names = new Set(failures.map((entry) => `${entry.object.namespace}/${entry.object.name}`));
    return facts
      .all('Pod')
      .filter((pod) => names.has(`${pod.metadata.namespace}/${pod.metadata.name}`) && pod.status?.phase === 'Pending');
  }
  if (pool) return waitingFor(facts, pool);
  const waiting = waitingPods(facts);
  if (source === 'karpenter') {
    const prefix = `nodeclaim/${group}-`;
    return waiting.filter((pod) => facts.eventsAbout(pod, 'Nominated').some((event) => event.message.includes(prefix)));
  }
  const lastFailure = failures.at(-1)!.at;
  const asked = waiting.filter((pod) => facts.eventsAbout(pod).some((event) => /ScaleUp$/.test(event.reason)));
  const served = asked.filter((pod) =>
    facts
      .eventsAbout(pod, 'TriggeredScaleUp')
      .some((event) => event.lastAt > lastFailure && minutesBetween(event.lastAt, facts.now) < 10),
  );
  if (served.length > 0) return asked.filter((pod) => !served.includes(pod));
  return asked.length > 0 ? asked : waiting.filter((pod) => facts.ownerOf(pod)?.kind !== 'DaemonSet');
};

export interface LaunchStatement {
  /** `pool-limit` for a limit of the customer's that growth can reach; a refused launch otherwise. */
  mechanism?: 'launch-failed' | 'pool-limit';
  layer: Layer;
  owner: Owner;
  boundary: Boundary;
  strength: FindingDraft['strength'];
  cause: string;
  nextSteps: string[];
  /** More evidence than the vendor's text, most telling first. */
  more?: FindingDraft['evidence'];
  contributing?: FindingDraft['contributing'];
  missing?: FindingDraft['missing'];
  root?: ObjectRef;
}

/** The finding for a group of failed launches; the statement says whose it is. */
export const launchFinding = (facts: ClusterFacts, group: FailedGroup, statement: LaunchStatement): FindingDraft => {
  const evidence = cite(statement.layer, facts);
  const shown = [...new Map(group.failures.map((entry) => [entry.message, entry])).values()].slice(-3);
  return {
    mechanism: statement.mechanism ?? 'launch-failed',
    explains: [
      'pending',
      'scheduling',
      'rollout',
      'unknown-symptom',
      'scaling-limit',
      ...(group.controlPlane ? ['etcd' as const, 'control-plane' as const] : []),
    ],
    owner: statement.owner,
    boundary: statement.boundary,
    strength: statement.strength,
    cause: text(statement.cause),
    root: statement.root ?? (group.pool ? refOf(group.pool) : group.last.object),
    affects: group.controlPlane ? 'cluster' : reachOf(facts, group),
    onset: earliest(...group.failures.map((entry) => entry.since)),
    evidence: [
      ...shown.map((entry) => entry.cite(evidence)),
      ...(statement.more ?? []),
      ...(group.pool ? [evidence.field(group.pool, 'spec.template.spec.requirements')] : []),
    ],
    chain: [
      {
        object: `${group.pool ? 'NodePool' : 'Group'} ${group.name}`,
        uid: group.pool?.metadata.uid,
        claim: `${group.attempts} refused launch${group.attempts === 1 ? '' : 'es'}, last ${group.last.code || group.last.kind} at ${group.last.at}`,
      },
      ...group.waiting.slice(0, 3).map((pod) => ({
        object: `Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
        uid: pod.metadata.uid,
        claim: 'waits for a machine',
      })),
    ],
    nextSteps: statement.nextSteps.map(text),
    contributing: statement.contributing ?? [],
    missing: statement.missing ?? [],
  };
};

const reachOf = (facts: ClusterFacts, group: FailedGroup): ObjectRef[] => [
  ...group.waiting.map(refOf),
  ...(group.pool
    ? [
        refOf(group.pool),
        ...claimsOfPool(facts, group.pool)
          .filter((claim) => isNotTrue(claim, 'Launched'))
          .map(refOf),
      ]
    : []),
  ...group.failures.map((entry) => entry.object),
];

/** `NodePool x`, `node group x` or `the container instance service`: how sentences name who asked. */
export const nameOfGroup = (group: FailedGroup): string =>
  group.source === 'eci'
    ? 'the container instance service'
    : group.source === 'karpenter'
      ? `NodePool ${group.name}`
      : group.source === 'asg'
        ? `Auto Scaling group ${group.name}`
        : `node group ${group.name || 'of the cluster'}`;

/** The vendor's sentence without what Karpenter and the autoscaler put around it. */
export const vendorText = (group: FailedGroup): string => {
  const message = group.last.message.replace(/^.*fleet error\(s\), /, '').replace(/^NodeClaim \S+ event: /, '');
  return message.length > 260 ? `${message.slice(0, 260)}…` : message;
};

export const countOf = (pods: KubeObject[]): string =>
  pods.length === 0 ? 'no pod' : pods.length === 1 ? '1 pod' : `${pods.length} pods`;
