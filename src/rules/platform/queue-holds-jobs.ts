import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { addMinutes, duration, minutesBetween } from '../../facts/time.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const gate = /^kueue\.x-k8s\.io\//;
const queueLabel = 'kueue.x-k8s.io/queue-name';
/** How long a queue that is merely full may keep its jobs before somebody should look again. */
const patienceMinutes = 60;

interface Judged {
  owner: Owner;
  boundary: Boundary;
  strength: Strength;
  because: string;
  step: string;
  root: KubeObject;
  state?: 'expected';
}

export default rule({
  title: 'Kueue keeps jobs back: their queue is stopped or broken, does not exist, or has no quota left',
  lookAlikes: [
    'a queue that is full admits in its own order: the wait is normal',
    'a job that asks for more than its queue can ever have: the job',
    'no FailedScheduling and nothing for an autoscaler: no scheduler has looked at the pods',
  ],
  judge(facts, scope) {
    const held = heldObjects(facts, scope);
    return groupBy(held, (object) => queueOf(facts, object) ?? '').flatMap((group) => queueFinding(facts, group));
  },
});

/** Pods that bear Kueue's gate, and jobs that it keeps suspended: those have no pod at all. */
const heldObjects = (facts: ClusterFacts, scope: Scope): KubeObject[] => [
  ...scope.troubledPods.filter((pod) => (pod.spec?.schedulingGates ?? []).some((entry: any) => gate.test(entry.name))),
  ...scope.workloads
    .flatMap((workload) => (workload.kind === 'CronJob' ? facts.childrenOf(workload) : [workload]))
    .filter(
      (job) => job.kind === 'Job' && job.spec?.suspend === true && job.metadata.labels?.[queueLabel] !== undefined,
    ),
];

const queueOf = (facts: ClusterFacts, object: KubeObject): string | undefined =>
  facts.ownerChain(object).flatMap((link) => link.metadata.labels?.[queueLabel] ?? [])[0] ??
  workloadOf(facts, object)?.spec?.queueName;

/** Kueue's own record of a job or pod. */
const workloadOf = (facts: ClusterFacts, object: KubeObject): KubeObject | undefined =>
  facts
    .in('Workload', object.metadata.namespace ?? '')
    .find((entry) =>
      facts
        .ownerChain(object)
        .some((owner) =>
          (entry.metadata.ownerReferences ?? []).some((reference) => reference.uid === owner.metadata.uid),
        ),
    );

const queueFinding = (facts: ClusterFacts, group: KubeObject[]): FindingDraft[] => {
  const first = group[0]!;
  const namespace = first.metadata.namespace ?? '';
  const name = queueOf(facts, first);
  const local = facts.find('LocalQueue', name, namespace);
  const cluster = facts.find('ClusterQueue', local?.spec?.clusterQueue);
  const entry = workloadOf(facts, first);
  const judged = judge(facts, { first, name, local, cluster, entry });
  if (!judged) return [];
  const since = group.map((object) => object.metadata.creationTimestamp ?? facts.now).sort()[0]!;
  const layer = judged.owner === 'app' ? 'app' : 'platform';
  const evidence = cite(layer, facts);
  const writer = cluster && lastWriter(cluster, 'f:stopPolicy');
  return [
    {
      mechanism: 'scheduling',
      explains: ['scheduling', 'pending', 'job', 'rollout', 'unknown-symptom'],
      ...(judged.state ? { state: judged.state, deadline: addMinutes(facts.now, patienceMinutes) } : {}),
      owner: judged.owner,
      boundary: judged.boundary,
      strength: judged.strength,
      cause: text(
        `Kueue holds ${group.length} ${first.kind === 'Pod' ? 'pods' : 'jobs'} of ${namespace} back for ${duration(minutesBetween(since, facts.now))}: ${judged.because}.`,
      ),
      root: refOf(judged.root),
      affects: group.flatMap((object) => facts.ownerChain(object)).map(refOf),
      onset: since,
      evidence: [
        first.kind === 'Pod' ? evidence.condition(first, 'PodScheduled') : evidence.field(first, 'spec.suspend'),
        ...(cluster
          ? [
              evidence.condition(cluster, 'Active'),
              evidence.field(cluster, 'spec.stopPolicy'),
              evidence.field(cluster, 'status.flavorsUsage'),
            ]
          : []),
        ...(writer ? [evidence.field(cluster!, 'metadata.managedFields', writer)] : []),
        ...(local ? [evidence.condition(local, 'Active')] : []),
        ...(entry ? [evidence.condition(entry, 'QuotaReserved')] : []),
        ...(first.kind === 'Pod' ? [evidence.field(first, 'spec.schedulingGates')] : []),
      ],
      chain: [link(judged.root, judged.because), ...group.slice(0, 3).map((object) => link(object, 'is held back'))],
      nextSteps: [text(judged.step)],
    },
  ];
};

interface Held {
  first: KubeObject;
  name: string | undefined;
  local?: KubeObject;
  cluster?: KubeObject;
  entry?: KubeObject;
}

const judge = (facts: ClusterFacts, { first, name, local, cluster, entry }: Held): Judged | undefined => {
  const stopped = [cluster, local].find((queue) => queue?.spec?.stopPolicy && queue.spec.stopPolicy !== 'None');
  const active = condition(cluster, 'Active');
  const said = condition(entry, 'QuotaReserved')?.message ?? '';
  const owner = ownershipOf(facts, first);
  const managers = facts.all('Pod').filter((pod) => /^kueue-controller/.test(pod.metadata.name));
  if (stopped) {
    const writer = lastWriter(stopped, 'f:stopPolicy');
    return {
      owner: stopped.kind === 'ClusterQueue' ? 'platform' : ownershipOf(facts, stopped),
      boundary: 'scheduling',
      strength: 'direct',
      because: `${nameOf(stopped)} is stopped (stopPolicy ${stopped.spec.stopPolicy})${writer ? ` since ${writer.time} by ${writer.manager}` : ''}`,
      step: `If the stop is over: kubectl patch ${stopped.kind.toLowerCase()} ${stopped.metadata.name}${stopped.metadata.namespace ? ` -n ${stopped.metadata.namespace}` : ''} --type merge -p '{"spec":{"stopPolicy":"None"}}'`,
      root: stopped,
    };
  }
  if (active?.status === 'False')
    return {
      owner: 'platform',
      boundary: 'scheduling',
      strength: 'direct',
      because: `${nameOf(cluster!)} is inactive (${active.reason}: ${active.message ?? ''})`,
      step: `kubectl describe clusterqueue ${cluster!.metadata.name}: give it the flavors and admission checks it names.`,
      root: cluster!,
    };
  if (managers.length > 0 && !managers.some(isReady))
    return {
      owner: 'platform',
      boundary: 'scheduling',
      strength: 'direct',
      because: `${nameOf(managers[0]!)} is not ready, so nobody admits anything`,
      step: `kubectl describe pod ${managers[0]!.metadata.name} -n ${managers[0]!.metadata.namespace}`,
      root: managers[0]!,
    };
  if (/LocalQueue .*(?:doesn't|does not) exist/i.test(said) || (name && !local && facts.all('LocalQueue').length > 0))
    return {
      owner,
      boundary: 'config',
      strength: said ? 'direct' : 'derived',
      because: `LocalQueue ${name} does not exist in its namespace`,
      step: `Correct the label ${queueLabel}; kubectl get localqueues -n ${first.metadata.namespace}`,
      root: facts.workloadOf(first),
    };
  if (/(?:request|exceeds?) ?>? ?(?:the )?maximum (?:capacity|quota)/i.test(said))
    return {
      owner,
      boundary: 'scheduling',
      strength: 'derived',
      because: `it asks for more than its queue can ever have (${said.slice(0, 160)})`,
      step: 'Ask for less, or have the queue’s nominal quota raised.',
      root: facts.workloadOf(first),
    };
  if (/insufficient (?:unused )?quota/i.test(said) && cluster)
    return {
      owner: 'undetermined',
      boundary: 'scheduling',
      strength: 'circumstantial',
      because: `${nameOf(cluster)} has no quota left and admits in its own order (${said.slice(0, 160)})`,
      step: `kubectl describe clusterqueue ${cluster.metadata.name}: who uses the quota; raise it if the wait is too long.`,
      root: cluster,
      state: 'expected',
    };
  return undefined;
};
