import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { lastWriter, speaksOfPlatform } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What the CronJob controller says of a schedule it cannot follow; other reasons tell of runs, not of the schedule. */
const refusals = /^(UnknownTimeZone|UnparseableSchedule|InvalidSchedule|UnsupportedSchedule)$/;
const missed = /^(TooManyMissedTimes|MissSchedule)$/;
/** The controller looks every ten seconds and may itself be late; a shorter deadline misses runs. */
const shortestDeadlineSeconds = 10;

export default rule({
  title: 'A CronJob starts no run, because it is suspended or its schedule, time zone or starting deadline allows none',
  lookAlikes: [
    'no CronJob of the cluster starts runs: the controller manager',
    'a run that goes on and forbids the next: the run',
    'a run that started and failed: the job',
  ],
  judge(facts, scope) {
    if (scope.wide) return [];
    const named = scope.subjects.filter((subject) => subject.kind === 'CronJob').map((subject) => subject.name);
    return facts
      .all('CronJob')
      .filter((cron) => scope.has(refOf(cron)) && (named.length === 0 || named.includes(cron.metadata.name)))
      .flatMap((cron) => findingOf(facts, cron, named.length > 0));
  },
});

interface Stop {
  field: string;
  why: string;
  event?: KubeEvent;
  direct: boolean;
}

const stopOf = (facts: ClusterFacts, cron: KubeObject, named: boolean): Stop | undefined => {
  const events = facts.eventsAbout(cron);
  const refused = events.filter((event) => refusals.test(event.reason)).at(-1);
  if (refused)
    return {
      field: /zone/i.test(refused.reason + refused.message) ? 'spec.timeZone' : 'spec.schedule',
      why: `the controller refuses it: “${refused.message.slice(0, 160)}”`,
      event: refused,
      direct: true,
    };
  if (!named) return undefined;
  if (cron.spec?.suspend === true) return { field: 'spec.suspend', why: 'it is suspended', direct: true };
  const deadline = cron.spec?.startingDeadlineSeconds;
  const late = events.filter((event) => missed.test(event.reason)).at(-1);
  if (deadline !== undefined && deadline < shortestDeadlineSeconds)
    return {
      field: 'spec.startingDeadlineSeconds',
      why: `startingDeadlineSeconds ${deadline} is shorter than the time between two looks of the controller`,
      event: late,
      direct: true,
    };
  return late && /TooManyMissed/.test(late.reason)
    ? {
        field: 'spec.startingDeadlineSeconds',
        why: `“${late.message.slice(0, 160)}”`,
        event: late,
        direct: false,
      }
    : undefined;
};

const findingOf = (facts: ClusterFacts, cron: KubeObject, named: boolean): FindingDraft[] => {
  const stop = stopOf(facts, cron, named);
  if (!stop) return [];
  const path = `f:${stop.field.slice('spec.'.length)}`;
  const write = lastWriter(cron, path);
  const owner = speaksOfPlatform(write?.manager) ? 'platform' : ownershipOf(facts, cron);
  const evidence = cite(owner, facts);
  const last = cron.status?.lastScheduleTime;
  const others = facts
    .all('CronJob')
    .filter((other) => other !== cron && minutesBetween(other.status?.lastScheduleTime, facts.now) < 24 * 60);
  return [
    {
      mechanism: 'job',
      explains: ['unknown-symptom', 'application-error'],
      owner,
      boundary: 'config',
      strength: stop.direct ? 'direct' : 'derived',
      cause: text(
        `${nameOf(cron)} starts no run${last ? ` since ${last}` : ''}: ${stop.why}${write?.manager ? ` (${stop.field} written by ${write.manager} at ${write.time})` : ''}.`,
      ),
      root: refOf(cron),
      affects: [refOf(cron)],
      onset: write?.time ?? last,
      evidence: [
        ...(stop.event ? [evidence.event(stop.event)] : []),
        evidence.field(cron, stop.field),
        evidence.field(cron, 'spec.schedule'),
        ...(write ? [evidence.field(cron, 'metadata.managedFields', write)] : []),
        ...(last ? [evidence.field(cron, 'status.lastScheduleTime')] : []),
        ...others.slice(0, 1).map((other) => evidence.field(other, 'status.lastScheduleTime')),
      ],
      chain: [link(cron, `${stop.field}: no run is started`)],
      nextSteps: [
        text(
          `Repair ${stop.field}: kubectl edit cronjob ${cron.metadata.name} -n ${cron.metadata.namespace}; run what was missed: kubectl create job --from=cronjob/${cron.metadata.name} missed -n ${cron.metadata.namespace}`,
        ),
      ],
    },
  ];
};
