import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { type HealthEvent, openIssues, zoneNames } from '../../facts/aws.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Host names of managed services, and how AWS Health calls the service behind them. */
const services: [host: RegExp, service: RegExp][] = [
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\brds\.amazonaws\.com/, /^(RDS|AURORA)$/],
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\bcache\.amazonaws\.com/, /^(ELASTICACHE|MEMORYDB)$/],
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\bdocdb\.amazonaws\.com/, /^DOCDB$/],
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\bmq\.[\w-]+\.amazonaws\.com/, /^(MQ|AMAZONMQ)$/],
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\bkafka[\w-]*\.[\w-]+\.amazonaws\.com/, /^(KAFKA|MSK)$/],
  [/(?<![\w-])([\w-]+)\.[\w.-]{0,200}\bes\.amazonaws\.com/, /^(ES|OPENSEARCH)$/],
  [
    /\b(sqs|sns|dynamodb|kinesis|s3|sts|kms|ssm|secretsmanager|lambda|logs|events|states)[.-][\w.-]*amazonaws\.com/,
    /^./,
  ],
  // Any other regional endpoint: its first word is the service (aps-workspaces, bedrock-runtime, cognito-idp).
  [/(?<![\w-])([a-z][a-z0-9]*)(?:-[a-z]+){0,3}\.[a-z]{2}(?:-[a-z]+){1,2}-\d\.amazonaws\.com/, /^./],
];
/** The endpoint was reached and answered with a fault of its own, not that it is asked too much. */
const answersWithFault = /\b(?:status|HTTP)\b.{0,20}\b50[0234]\b|Internal ?Server ?Error|InternalFailure/i;
const askedTooMuch = /SlowDown|throttl|too ?many ?requests|limit ?exceeded|rate exceeded/i;
const fails =
  /time[d]?[ -]?out|deadline exceeded|refused|reset by peer|unreachable|no route to host|unavailable|InternalFailure|InternalError|InternalServerError|\b50[0234]\b|broken pipe|\bEOF\b|terminating connection|lost connection|not connect/i;
const nameless = /no such host|UnknownHost|NXDOMAIN|Name or service not known|could not resolve|ENOTFOUND/i;
const ownMistake =
  /AccessDenied|not authorized|password|authentication|no such host|too many connections|remaining connection slots/i;
/** A regional endpoint is the vendor's own name: that it does not exist is no slip of whoever wrote it. */
const regional =
  /\b(sqs|sns|dynamodb|kinesis|s3|sts|kms|ssm|secretsmanager|lambda|logs|events|states)\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com/;
const isVendors = (line: string): boolean => nameless.test(line) && regional.test(line);
/** A complaint may be logged a little before the vendor dates its event. */
const slackMinutes = 15;

interface Complaint {
  pod: KubeObject;
  line: PodLogLine;
  host: string;
  name: string;
  issue: HealthEvent;
  /** The vendor's regional endpoint itself answers with a fault. */
  answered: boolean;
  /** The zone the resource lies in is the zone of the event, or the event names the resource. */
  located: boolean;
}

export default rule({
  title: 'Applications cannot reach a managed service of the vendor, who has an open event on that service there',
  lookAlikes: [
    'an open event on another service, zone or time: coincidence',
    'refused credentials, used-up connections and names that do not exist: not the vendor',
    'the application was released in the same minutes and nobody else complains',
  ],
  judge(facts, scope) {
    const issues = openIssues(facts);
    if (issues.length === 0 || scope.wide) return [];
    const all = loggedPods(facts).flatMap((pod) => complaintsOf(facts, pod, issues));
    const own = all.filter((entry) => scope.has(refOf(entry.pod)));
    return groupBy(own, (entry) => `${nameOf(facts.workloadOf(entry.pod))}/${entry.issue.code}`).map((group) =>
      findingOf(facts, group, all),
    );
  },
});

const complaintsOf = (facts: ClusterFacts, pod: KubeObject, issues: HealthEvent[]): Complaint[] =>
  grep(facts, [pod], /amazonaws\.com/)
    .filter((line) => isVendors(line.text) || (fails.test(line.text) && !ownMistake.test(line.text)))
    .flatMap((line) =>
      services
        .flatMap(([hosts, service]): Complaint[] => {
          const match = hosts.exec(line.text);
          const issue =
            match &&
            issues.find(
              (entry) =>
                service.test(entry.service) &&
                inRegion(match[0], entry) &&
                (service.source !== '^.' || entry.service.toLowerCase() === match[1]) &&
                !(minutesBetween(entry.startedAt, line.at) < -slackMinutes),
            );
          const located = issue && locatedAt(facts, match![1]!, issue);
          return issue && located !== false
            ? [
                {
                  pod,
                  line,
                  host: match![0],
                  name: match![1]!,
                  issue,
                  answered:
                    service.source === '^.' && answersWithFault.test(line.text) && !askedTooMuch.test(line.text),
                  located: located === true,
                },
              ]
            : [];
        })
        .slice(0, 1),
    );

/** An event of another region than the one in the host's name is another incident. */
const inRegion = (host: string, issue: HealthEvent): boolean => {
  const region = /[a-z]{2}(?:-[a-z]+){1,2}-\d(?=\.)/.exec(host)?.[0];
  return !region || !issue.region || issue.region === 'global' || issue.region === region;
};

/** Whether the resource lies where the event is; undefined where neither tells. */
const locatedAt = (facts: ClusterFacts, name: string, issue: HealthEvent): boolean | undefined => {
  if (issue.entities.some((entity) => entity.split(/[:/]/).includes(name))) return true;
  if (!issue.zone) return undefined;
  const zone = zoneNames(facts).get(issue.zone) ?? issue.zone;
  const databases: any[] = facts.cloud('rds.describeDBInstances')?.DBInstances ?? [];
  const database = databases.find((entry) => entry.DBInstanceIdentifier === name);
  return database ? database.AvailabilityZone === zone : undefined;
};

const findingOf = (facts: ClusterFacts, group: Complaint[], all: Complaint[]): FindingDraft => {
  const entry = group.find((item) => item.located) ?? group.at(-1)!;
  const { issue } = entry;
  const workload = facts.workloadOf(entry.pod);
  const others = all.filter((item) => item.issue === issue && facts.workloadOf(item.pod) !== workload);
  const onset = earliest(...group.map((item) => item.line.at));
  const released = onset && rolloutBefore(facts, workload, onset, 30);
  const evidence = cite('cloud', facts);
  const database = ((facts.cloud('rds.describeDBInstances')?.DBInstances ?? []) as any[]).find(
    (item) => item.DBInstanceIdentifier === entry.name,
  );
  const lost = facts
    .cloudWatch('AWS/RDS', 'DatabaseConnections')
    .find((series) => series.dimensions.DBInstanceIdentifier === entry.name);
  return {
    mechanism: 'dependency',
    explains: ['crash', 'probe', 'application-error', 'dependency', 'load', 'rollout', 'unknown-symptom'],
    owner: 'cloud',
    boundary: null,
    strength:
      others.length > 0 || ((entry.located || group.some((item) => item.answered)) && !released)
        ? 'direct'
        : released
          ? 'circumstantial'
          : 'derived',
    cause: text(
      `${nameOf(workload)} ${entry.answered ? 'is answered with faults by' : 'cannot reach'} ${entry.host}: the vendor has an open event on ${issue.service}${issue.zone ? ` in ${zoneNames(facts).get(issue.zone) ?? issue.zone}` : ''} since ${issue.startedAt ?? 'an unknown time'} (${issue.code})${others.length > 0 ? `; ${[...new Set(others.map((item) => nameOf(facts.workloadOf(item.pod))))].slice(0, 3).join(', ')} fail alike` : ''}.`,
    ),
    root: { kind: 'AWS service', name: issue.service },
    affects: [workload, ...group.map((item) => item.pod)].map(refOf),
    onset: issue.startedAt ?? onset,
    evidence: [
      evidence.aws('health.describeEvents', 'events[].eventTypeCode', issue.code, issue.description, issue.startedAt),
      evidence.log(entry.line.log, entry.line.text),
      ...others.slice(0, 1).map((item) => evidence.log(item.line.log, item.line.text)),
      ...(database
        ? [
            evidence.aws(
              'rds.describeDBInstances',
              `DBInstances[${entry.name}].AvailabilityZone`,
              database.AvailabilityZone,
            ),
          ]
        : []),
      ...(lost ? [evidence.cloudWatch(lost, `${lost.points[0]?.[1]} → ${lost.points.at(-1)?.[1]} connections`)] : []),
    ],
    chain: [
      { object: `AWS ${issue.service}`, claim: `${issue.code} since ${issue.startedAt ?? 'an unknown time'}` },
      link(workload, entry.answered ? `gets faults from ${entry.host}` : `gets no answer from ${entry.host}`),
    ],
    contributing: [
      {
        owner: 'app',
        action: text(
          'Consider Multi-AZ and bounded retries, so that one zone or service does not stop the application.',
        ),
      },
    ],
    nextSteps: [
      text(`Open a support case that names ${entry.host}, the event ${issue.code} and the time of the first error.`),
      text('Fail over where a standby exists; hold back releases until the event is closed.'),
    ],
  };
};
