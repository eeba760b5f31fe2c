import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, isBound, isUnscheduled, terminations } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { addMinutes, duration, latest, minutesBetween } from '../../facts/time.ts';
import { citeCrash, crashesOf } from '../../facts/workloads/crashes.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A failure older than this, with no later run to compare, is history rather than an incident. */
const staleMinutes = 24 * 60;
/** When to look again whether an alert about an ended Job is gone. */
const recheckMinutes = 24 * 60;

export default rule({
  title: 'A Job: failed and overtaken by later runs, completed in spite of a side container, or failing now',
  lookAlikes: [
    'the alert fires until the failed Job object is deleted, though later runs completed',
    'a side container that ends with an error after the main one succeeded',
    'a Job that failed because its pods never ran: scheduling or image, not the job',
  ],
  judge(facts, scope) {
    return jobsOf(facts, scope).flatMap((job) => {
      const failed = condition(job, 'Failed');
      if (failed?.status === 'True') return failedJob(facts, job, failed.reason ?? '', failed.lastTransitionTime ?? '');
      if (isTrue(job, 'Complete')) return completedJob(facts, job);
      return hangingJob(facts, job);
    });
  },
});

const jobsOf = (facts: ClusterFacts, scope: Scope): KubeObject[] =>
  facts.all('Job').filter((job) => {
    if (scope.wide || !scope.has(refOf(job))) return false;
    const named = scope.subjects.some((subject) => subject.kind === 'Job' && subject.name === job.metadata.name);
    const others = scope.subjects.some((subject) => subject.kind === 'Job');
    return named || !others;
  });

const failedJob = (facts: ClusterFacts, job: KubeObject, reason: string, at: string): FindingDraft[] => {
  const cron = facts.ownerOf(job);
  const later = facts
    .in('Job', job.metadata.namespace ?? '')
    .filter(
      (other) =>
        cron &&
        facts.ownerOf(other)?.metadata.uid === cron.metadata.uid &&
        isTrue(other, 'Complete') &&
        (other.status?.completionTime ?? '') > at,
    );
  const succeeded = latest(cron?.status?.lastSuccessfulTime, ...later.map((other) => other.status?.completionTime));
  const overtaken = succeeded !== undefined && succeeded > at;
  const age = minutesBetween(at, facts.now);
  const pods = facts.podsOf(job);
  const owner = ownershipOf(facts, job);
  const evidence = cite(owner, facts);
  if (!overtaken && pods.some((pod) => isUnscheduled(pod))) return [];
  const never = reason === 'DeadlineExceeded' && pods.length > 0 && !pods.some((pod) => isBound(pod));
  if (never) return [];
  const crash = crashesOf(facts, pods)[0];
  const base = {
    mechanism: 'job' as const,
    boundary: 'application' as const,
    root: refOf(job),
    affects: [job, ...pods, ...(cron ? [cron] : [])].map(refOf),
    onset: at,
    chain: [
      link(job, `failed at ${at}: ${reason}`),
      ...later.slice(-2).map((other) => link(other, `completed at ${other.status?.completionTime}`)),
    ],
  };
  if (overtaken)
    return [
      {
        ...base,
        explains: ['crash', 'oom', 'unknown-symptom', 'application-error', 'probe'],
        state: 'over',
        owner: 'undetermined',
        strength: 'direct',
        cause: text(
          `${nameOf(job)} failed ${duration(age)} ago (${reason}) and is over: ${later.length || 'a'} later run${later.length === 1 ? '' : 's'} of ${cron ? nameOf(cron) : 'it'} completed, the last ${duration(minutesBetween(succeeded, facts.now))} ago; the alert lasts until the failed Job is deleted.`,
        ),
        evidence: [
          evidence.condition(job, 'Failed'),
          ...(cron?.status?.lastSuccessfulTime ? [evidence.field(cron, 'status.lastSuccessfulTime')] : []),
          ...later.slice(-2).map((other) => evidence.condition(other, 'Complete')),
        ],
        nextSteps: [
          text(
            `kubectl delete job ${job.metadata.name} -n ${job.metadata.namespace}; set ttlSecondsAfterFinished or failedJobsHistoryLimit so that it does not stay.`,
          ),
        ],
        deadline: addMinutes(facts.now, recheckMinutes),
      },
    ];
  const traceless =
    !crash &&
    reason === 'BackoffLimitExceeded' &&
    !pods.some((pod) => terminations(pod).some(({ terminated }) => terminated.exitCode));
  return [
    {
      ...base,
      explains: ['crash', 'unknown-symptom'],
      ...(traceless
        ? { owner: 'undetermined' as const, boundary: null, missing: [traceOf(job)] }
        : { owner, boundary: 'application' as const }),
      strength: crash || age < staleMinutes ? 'derived' : 'circumstantial',
      cause: text(
        `${nameOf(job)} failed ${duration(age)} ago (${reason})${crash ? `: container ${crash.container} ended with exit ${crash.exitCode}` : ''}, and no later run has completed.`,
      ),
      evidence: [
        evidence.condition(job, 'Failed'),
        evidence.field(job, 'spec.backoffLimit'),
        ...(crash
          ? [citeCrash(evidence, crash), ...crash.lines.slice(-3).map((line) => evidence.log(line.log, line.text))]
          : []),
      ],
      nextSteps: [
        text(
          `kubectl logs -n ${job.metadata.namespace} job/${job.metadata.name}; repair the cause and run it again: kubectl create job --from=cronjob/${cron?.metadata.name ?? '<cronjob>'} retry -n ${job.metadata.namespace}`,
        ),
      ],
      contributing: [],
    },
  ];
};

/** What would tell an error of the program from a kill, a dependency or a lost node once the pods are gone. */
const traceOf = (job: KubeObject) => ({
  layer: 'app' as const,
  missing: `exit codes and logs of the pods of ${nameOf(job)}, which are gone`,
  fix: `read the log store for namespace ${job.metadata.namespace}; use restartPolicy Never, so that failed pods stay`,
});

const completedJob = (facts: ClusterFacts, job: KubeObject): FindingDraft[] => {
  const evidence = cite('app', facts);
  const pods = facts.podsOf(job);
  const ends = pods.flatMap((pod) =>
    containerStatuses(pod).map((status) => ({ pod, status, ended: status.state?.terminated })),
  );
  const odd = ends.filter(
    (entry) => entry.ended && entry.ended.exitCode !== 0 && entry.pod.status?.phase === 'Succeeded',
  );
  const main = ends.find((entry) => entry.ended?.exitCode === 0);
  return [
    {
      mechanism: 'job',
      explains: ['crash', 'unknown-symptom', 'probe', 'oom', 'application-error'],
      state: 'expected',
      owner: 'undetermined',
      boundary: 'application',
      strength: 'direct',
      cause: text(
        `${nameOf(job)} completed at ${job.status?.completionTime ?? 'an unknown time'}${odd[0] ? `; container ${odd[0].status.name} ended with ${odd[0].ended.exitCode} when the pod was already done, which does not count` : ''}.`,
      ),
      root: refOf(job),
      affects: [job, ...pods].map(refOf),
      onset: job.status?.completionTime,
      evidence: [
        evidence.condition(job, 'Complete'),
        ...odd
          .slice(0, 2)
          .map((entry) =>
            evidence.field(
              entry.pod,
              `status.containerStatuses[${entry.status.name}].state.terminated`,
              `${entry.ended.reason}, exit ${entry.ended.exitCode} at ${entry.ended.finishedAt}`,
            ),
          ),
        ...(main
          ? [
              evidence.field(
                main.pod,
                `status.containerStatuses[${main.status.name}].state.terminated`,
                `${main.ended.reason}, exit 0 at ${main.ended.finishedAt}`,
              ),
            ]
          : []),
        ...pods.slice(0, 1).map((pod) => evidence.field(pod, 'status.phase')),
      ],
      chain: [link(job, 'Complete'), ...pods.slice(0, 2).map((pod) => link(pod, `${pod.status?.phase}`))],
      nextSteps: [
        text(
          'Nothing to repair; let the alert leave out pods that Succeeded, or make the side container end with 0 on SIGTERM.',
        ),
      ],
      deadline: addMinutes(facts.now, recheckMinutes),
    },
  ];
};

/** The work is done and a side container keeps the pod, and so the Job, alive. */
const hangingJob = (facts: ClusterFacts, job: KubeObject): FindingDraft[] =>
  facts.podsOf(job).flatMap((pod): FindingDraft[] => {
    const statuses = containerStatuses(pod);
    const done = statuses.find(
      (status) =>
        status.state?.terminated?.exitCode === 0 &&
        (pod.spec?.containers ?? []).some((container: any) => container.name === status.name),
    );
    const alive = statuses.find(
      (status) =>
        status.state?.running && (pod.spec?.containers ?? []).some((container: any) => container.name === status.name),
    );
    const since = done?.state?.terminated?.finishedAt;
    if (!done || !alive || minutesBetween(since, facts.now) < 10) return [];
    const owner = ownershipOf(facts, job);
    const evidence = cite(owner, facts);
    return [
      {
        mechanism: 'job',
        explains: ['unknown-symptom'],
        owner,
        boundary: 'application',
        strength: 'direct',
        cause: text(
          `${nameOf(job)} does not complete: container ${done.name} ended with 0 at ${since}, and container ${alive.name} goes on and keeps the pod.`,
        ),
        root: refOf(job),
        affects: [job, pod].map(refOf),
        onset: since,
        evidence: [
          evidence.field(
            pod,
            `status.containerStatuses[${done.name}].state.terminated`,
            `Completed, exit 0 at ${since}`,
          ),
          evidence.field(
            pod,
            `status.containerStatuses[${alive.name}].state.running`,
            JSON.stringify(alive.state?.running),
          ),
        ],
        chain: [link(job, 'waits'), link(pod, `${alive.name} still runs`)],
        contributing: [],
        nextSteps: [
          text(
            `Run ${alive.name} as a native sidecar (initContainers with restartPolicy Always), or have the job stop it at its end.`,
          ),
        ],
      },
    ];
  });
