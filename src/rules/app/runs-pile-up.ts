import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { requestOf } from '../../facts/capacity/requests.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { groupBy, link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished } from '../../facts/pods.ts';
import { quantity } from '../../facts/quantity.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

/** A CronJob names its runs after the minute for which they were due. */
const ofSchedule = /^(.+)-\d{7,}$/;
const leastRuns = 5;
const leastMinutes = 60;
/** Runs that hold less than this share of the nodes are not what fills them. */
const leastShare = 0.2;
const waits = /\bwait|lock|block|stuck|retry|acquir|queue|deadlock/i;

interface Pile {
  cron: ObjectRef;
  pods: KubeObject[];
  runs: number;
  oldest: string;
  share: number;
}

export default rule({
  title: 'Runs of a CronJob that do not end pile up beside each other and fill the nodes',
  lookAlikes: [
    'a group at its maximum with work that ends: the maximum is too low',
    'one run that goes on while its schedule forbids another',
    'many pods of one wanted parallel Job',
  ],
  judge(facts, scope) {
    const piles = pilesOf(facts);
    return piles.length === 0
      ? []
      : waitingGroups(facts, scope)
          .filter((group) => group.clauses.some((clause) => /^Insufficient |Too many pods/.test(clause.reason)))
          .flatMap((group) => piles.map((pile) => findingOf(facts, group, pile)));
  },
});

const pilesOf = (facts: ClusterFacts): Pile[] => {
  const runs = facts.all('Pod').filter((pod) => !isFinished(pod) && stemOf(pod));
  const room = facts.all('Node').reduce((sum, node) => sum + (quantity(node.status?.allocatable?.cpu) || 0), 0);
  return groupBy(runs, (pod) => `${pod.metadata.namespace}/${stemOf(pod)}`).flatMap((pods) => {
    const placed = pods.filter((pod) => pod.spec?.nodeName);
    const share = placed.reduce((sum, pod) => sum + (requestOf(pod, 'cpu') || 0), 0) / room;
    const jobs = new Set(pods.map((pod) => pod.metadata.ownerReferences?.[0]?.name));
    const oldest = earliest(...pods.map((pod) => pod.metadata.creationTimestamp)) ?? facts.now;
    const grown = jobs.size >= leastRuns && share >= leastShare && minutesBetween(oldest, facts.now) >= leastMinutes;
    const cron = { kind: 'CronJob', name: stemOf(pods[0]!)!, namespace: pods[0]!.metadata.namespace };
    return grown ? [{ cron, pods, runs: jobs.size, oldest, share }] : [];
  });
};

const stemOf = (pod: KubeObject): string | undefined => {
  const owner = pod.metadata.ownerReferences?.find((entry) => entry.kind === 'Job');
  return owner && ofSchedule.exec(owner.name)?.[1];
};

const findingOf = (
  facts: ClusterFacts,
  group: WaitingGroup,
  { cron, pods, runs, oldest, share }: Pile,
): FindingDraft => {
  const known = facts.find('CronJob', cron.name, cron.namespace);
  const owner = ownershipOf(facts, known ?? pods[0]!);
  const evidence = cite(owner, facts);
  const name = `CronJob ${cron.namespace}/${cron.name}`;
  const own = pods.some((pod) => facts.workloadOf(pod) === group.workload);
  const lines = grep(facts, pods, waits);
  const eldest = pods.find((pod) => pod.metadata.creationTimestamp === oldest)!;
  return {
    mechanism: 'leak',
    explains: ['pool-limit', 'pending', 'scheduling', 'autoscaler-growth', 'unknown-symptom', 'rollout'],
    owner,
    boundary: 'application',
    strength: 'derived',
    cause: text(
      `${runs} runs of ${name} are alive at once, the eldest for ${duration(minutesBetween(oldest, facts.now))}, and request ${Math.round(share * 100)}% of the cluster’s CPU${lines[0] ? ` (“${lines.at(-1)!.text.slice(0, 120)}”)` : ''}; ${nameOf(group.workload)} finds no room.`,
    ),
    root: known ? refOf(known) : cron,
    affects: [...group.pods, ...(own ? [group.workload] : [])].map(refOf),
    onset: oldest,
    evidence: [
      ...refusalEvidence(evidence, group),
      ...(known
        ? [evidence.field(known, 'spec.concurrencyPolicy'), evidence.field(known, 'status.active', `${runs} active`)]
        : []),
      evidence.field(eldest, 'metadata.creationTimestamp'),
      ...pods.slice(0, 2).map((pod) => evidence.field(pod, 'metadata.ownerReferences')),
      ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
    ],
    chain: [{ object: name, claim: `${runs} runs at once` }, link(eldest, 'does not end'), ...waitingChain(group)],
    contributing: [
      { owner: 'platform', action: text('Give the namespace a quota, so that one schedule cannot fill the cluster.') },
    ],
    nextSteps: [
      text(
        `kubectl patch cronjob ${cron.name} -n ${cron.namespace} -p '{"spec":{"suspend":true}}'; delete the runs that hang; then set concurrencyPolicy Forbid and activeDeadlineSeconds.`,
      ),
    ],
  };
};
