import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { poolsOfPods } from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isBound, isFinished, isUnscheduled } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A controller says that it lets go of something it made. */
const letsGo =
  /abandon|orphan|gave up|giving up|not ready within|timed? ?out waiting|requeue|lost track|leak|forgot|failed to delete|delet\w* failed/i;
/** How many things the controller believes it has. */
const believes = /\b(?:tracked|active|known|managed|inflight|sessions|owned)[=:]\s*(\d+)/i;
/** Existing pods beyond this multiple of the believed number are strays. */
const strayFactor = 2;
const minStrays = 5;

export default rule({
  title: "Pods that the application's own controller no longer tracks fill the nodes",
  lookAlikes: [
    'the pool is at its limit with pods that are all wanted: the limit is too low',
    'finished pods: they hold no room',
  ],
  judge(facts, scope) {
    const namespaces = new Set(
      scope.subjects.map((subject) => subject.namespace).filter((entry) => entry !== undefined),
    );
    return [...namespaces].flatMap((namespace) =>
      facts
        .in('Deployment', namespace)
        .concat(facts.in('StatefulSet', namespace))
        .flatMap((controller) => straysOf(facts, namespace, controller)),
    );
  },
});

const straysOf = (facts: ClusterFacts, namespace: string, controller: KubeObject): FindingDraft[] => {
  const own = facts.podsOf(controller);
  const lines = grep(facts, own, letsGo);
  const counts = grep(facts, own, believes);
  const bare = facts.in('Pod', namespace).filter((pod) => !isFinished(pod) && madeBy(facts, pod, controller));
  const named = bare.filter((pod) => lines.some((line) => line.text.includes(pod.metadata.name)));
  const held = bare.filter(isBound);
  const believed = counts.length > 0 ? Number(believes.exec(counts.at(-1)!.text)![1]) : undefined;
  const strays = believed === undefined ? named.filter(isBound) : held;
  const tooMany =
    believed === undefined ? strays.length >= minStrays : held.length >= Math.max(minStrays, strayFactor * believed);
  if (lines.length === 0 || !tooMany) return [];
  const owner = ownershipOf(facts, controller);
  const evidence = cite(owner, facts);
  const waiting = bare.filter(isUnscheduled);
  const pools = poolsOfPods(facts, held);
  const oldest = held.map((pod) => pod.metadata.creationTimestamp ?? facts.now).sort()[0] ?? facts.now;
  const cited: PodLogLine[] = [lines[0]!, ...lines.slice(-2), ...counts.slice(-1)];
  return [
    {
      mechanism: 'leak',
      explains: [
        'pool-limit',
        'pending',
        'scheduling',
        'autoscaler-growth',
        'quota',
        'address-exhaustion',
        'node-churn',
        'unknown-symptom',
      ],
      owner,
      boundary: 'application',
      strength: believed === undefined ? 'derived' : 'direct',
      cause: text(
        `${nameOf(controller)} lets go of pods without deleting them: ${held.length} pods run${believed === undefined ? '' : `, it tracks ${believed}`}, the oldest for ${duration(minutesBetween(oldest, facts.now))}${pools[0] ? `; they hold NodePool ${pools[0].metadata.name}` : ''}${waiting.length ? `, and ${waiting.length} new ones find no room` : ''}.`,
      ),
      root: refOf(controller),
      affects: [controller, ...bare, ...pools].map(refOf),
      onset: oldest,
      evidence: [
        ...[...new Set(cited)].map((line) => evidence.log(line.log, line.text)),
        ...held.slice(0, 1).map((pod) => evidence.field(pod, 'metadata.creationTimestamp')),
        ...pools.slice(0, 1).map((pool) => evidence.field(pool, 'status.resources')),
      ],
      chain: [
        link(controller, `tracks ${believed ?? 'fewer'} of ${held.length} pods`),
        ...held.slice(0, 1).map((pod) => link(pod, 'runs on, tracked by nobody')),
        ...pools.map((pool) => link(pool, 'is filled by them')),
        ...waiting.slice(0, 1).map((pod) => link(pod, 'finds no room')),
      ],
      contributing: [
        {
          owner: 'platform',
          action: text(
            'Clean up pods without an owner that outlive their purpose, or set activeDeadlineSeconds by policy.',
          ),
        },
      ],
      nextSteps: [
        text(
          `Delete the pods the controller no longer tracks: kubectl get pods -n ${namespace} --sort-by=.metadata.creationTimestamp`,
        ),
        text(
          `Have ${nameOf(controller)} delete what it gives up, and set ownerReferences and activeDeadlineSeconds on what it makes.`,
        ),
      ],
    },
  ];
};

/** Pods without an owner, or owned by a custom resource of the controller: nobody else would delete them. */
const madeBy = (facts: ClusterFacts, pod: KubeObject, controller: KubeObject): boolean =>
  facts.workloadOf(pod) === pod &&
  pod.metadata.namespace === controller.metadata.namespace &&
  !pod.metadata.labels?.['pod-template-hash'];
