import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { podLogLines } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, isTerminating } from '../../facts/pods.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A run may take longer than its forerunners; this much longer is no run any more. */
const longerFactor = 4;
const leastMinutes = 60;
const waits = /\bwait|lock|block|stuck|hang|retry|poll|acquir|queue|sleep|idle|deadlock|no timeout/i;

export default rule({
  title: 'A run of a job goes on far longer than its forerunners, and its schedule starts no other beside it',
  lookAlikes: [
    'no run starts at all and no other CronJob’s either: the controller manager',
    'a pod that cannot start, or whose node is lost: not the job',
    'a long run that is as long as ever',
  ],
  judge(facts, scope) {
    return facts
      .all('Job')
      .filter((job) => !scope.wide && scope.has(refOf(job)))
      .flatMap((job) => runFinding(facts, job));
  },
});

const runFinding = (facts: ClusterFacts, job: KubeObject): FindingDraft[] => {
  const cron = facts.ownerOf(job);
  const age = minutesBetween(job.status?.startTime ?? job.metadata.creationTimestamp, facts.now);
  const over = isTrue(job, 'Complete') || isTrue(job, 'Failed') || job.spec?.suspend;
  const pod = facts.podsOf(job).find((entry) => entry.status?.phase === 'Running' && !isTerminating(entry));
  const node = pod && facts.nodeOf(pod);
  const steady = pod && containerStatuses(pod).every((status) => status.state?.running && !status.restartCount);
  if (over || !pod || !steady || (node && !isTrue(node, 'Ready'))) return [];
  const skipped = cron
    ? facts
        .eventsAbout(cron)
        .filter((event) => /JobAlreadyActive/.test(event.reason) || /concurrency policy is/.test(event.message))
    : [];
  const usual = usualMinutes(facts, cron, job);
  const tooLong = usual !== undefined ? age > Math.max(leastMinutes, longerFactor * usual) : skipped.length > 0;
  if (!tooLong || (usual === undefined && age < leastMinutes)) return [];
  const owner = ownershipOf(facts, cron ?? job);
  const evidence = cite(owner, facts);
  const lines = facts.logsOf(pod).flatMap((log) => podLogLines(log));
  const last = lines.filter((line) => waits.test(line.text)).slice(-2);
  const shown = last.length > 0 ? last : lines.slice(-1);
  return [
    {
      mechanism: 'job',
      explains: ['job', 'unknown-symptom'],
      owner,
      boundary: 'application',
      strength: skipped.length > 0 && last.length > 0 ? 'direct' : 'derived',
      cause: text(
        `${nameOf(job)} has run for ${duration(age)}${usual === undefined ? '' : ` (earlier runs took ${duration(usual)})`}${shown[0] ? `; its log ends with “${shown.at(-1)!.text.slice(0, 160)}”` : ''}${skipped.length > 0 && cron ? `; ${nameOf(cron)} (concurrencyPolicy ${cron.spec?.concurrencyPolicy}) starts no other run meanwhile` : ''}.`,
      ),
      root: refOf(job),
      affects: [job, pod, ...(cron ? [cron] : [])].map(refOf),
      onset: job.status?.startTime ?? job.metadata.creationTimestamp,
      evidence: [
        ...skipped.slice(-1).map((event) => evidence.event(event)),
        ...shown.map((line) => evidence.log(line.log, line.text)),
        evidence.field(job, 'status.startTime'),
        evidence.field(job, 'status.active'),
        ...(cron
          ? [evidence.field(cron, 'spec.concurrencyPolicy'), evidence.field(cron, 'status.lastSuccessfulTime')]
          : []),
      ],
      chain: [
        link(pod, 'runs on and does not end'),
        link(job, 'stays active'),
        ...(cron ? [link(cron, 'starts no other run')] : []),
      ],
      contributing: [],
      nextSteps: [
        text(
          `See what it waits for: kubectl logs -n ${pod.metadata.namespace} ${pod.metadata.name} --tail=50; then end it (kubectl delete job ${job.metadata.name} -n ${job.metadata.namespace}) so that the schedule goes on.`,
        ),
        text('Set activeDeadlineSeconds on the job and a timeout on what it waits for.'),
      ],
    },
  ];
};

/** Median minutes of the completed runs of the same schedule; undefined where none is known. */
const usualMinutes = (facts: ClusterFacts, cron: KubeObject | undefined, job: KubeObject): number | undefined => {
  if (!cron) return undefined;
  const times = facts
    .in('Job', job.metadata.namespace ?? '')
    .filter((other) => facts.ownerOf(other)?.metadata.uid === cron.metadata.uid && isTrue(other, 'Complete'))
    .map((other) => minutesBetween(other.status?.startTime, other.status?.completionTime))
    .filter((minutes) => !Number.isNaN(minutes))
    .sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
};
