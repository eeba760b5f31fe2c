import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { count } from '../../domain/wording.ts';
import { type HealthEvent, openIssues } from '../../facts/aws.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods } from '../../facts/logs/pod-logs.ts';
import { isVendorFailure, vendorFailure } from '../../facts/logs/vendor-errors.ts';
import { vendorOf } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const recentMinutes = 30;

export default rule({
  title: 'The vendor’s APIs answer several unrelated workloads with errors of their own',
  lookAlikes: [
    'one workload alone is answered 5xx: its own requests or resource',
    'refused credentials, quotas and throttling are the caller’s',
  ],
  judge(facts) {
    const lines = loggedPods(facts).flatMap((pod) =>
      grep(facts, [pod], vendorFailure)
        .filter((line) => isVendorFailure(line.text) && !(minutesBetween(line.at, facts.now) > recentMinutes))
        .slice(-1)
        .map((line) => ({ pod, line })),
    );
    const events = facts.events.filter(
      (event) =>
        event.type === 'Warning' &&
        event.regarding.kind === 'Pod' &&
        isVendorFailure(event.message) &&
        minutesBetween(event.lastAt, facts.now) < recentMinutes,
    );
    const eventPods = events.flatMap((event) => facts.resolve(event.regarding) ?? []);
    const pods = [...new Set([...lines.map((entry) => entry.pod), ...eventPods])];
    const namespaces = new Set(pods.map((pod) => pod.metadata.namespace));
    const onset = earliest(...lines.map((entry) => entry.line.at), ...events.map((event) => event.firstAt));
    const issue = issueBehind(
      facts,
      [...lines.map((entry) => entry.line.text), ...events.map((event) => event.message)],
      onset,
    );
    if (pods.length === 0 || (namespaces.size < 2 && !issue)) return [];
    const evidence = cite('cloud', facts);
    const workloads = [...new Set(pods.map((pod) => facts.workloadOf(pod)))];
    const perWorkload = new Map(lines.map((entry) => [facts.workloadOf(entry.pod), entry]));
    return [
      {
        mechanism: 'dependency' as const,
        explains: [
          'crash',
          'probe',
          'application-error',
          'dependency',
          'image-pull',
          'identity',
          'volume',
          'rollout',
          'unknown-symptom',
        ].map((entry) => entry as 'crash'),
        owner: 'cloud' as const,
        boundary: null,
        strength: namespaces.size > 2 || (issue && namespaces.size > 1) ? ('direct' as const) : ('derived' as const),
        cause: text(
          `${vendorOf(facts)}’s own APIs answer ${count(workloads.length, 'workload')} of ${count(namespaces.size, 'namespace')} with server errors: ${workloads.map(nameOf).slice(0, 4).join(', ')}${issue ? `; its event ${issue.code} has been open since ${issue.startedAt ?? 'an unknown time'}` : ''}.`,
        ),
        root: { kind: 'Cluster', name: facts.identity.name },
        affects: [...pods, ...workloads].map(refOf),
        onset: earliest(issue?.startedAt, onset),
        evidence: [
          ...[...perWorkload.values()].slice(0, 5).map(({ line }) => evidence.log(line.log, line.text)),
          ...events.slice(0, 1).map((event) => evidence.event(event)),
          ...(issue
            ? [
                evidence.aws(
                  'health.describeEvents',
                  'events[].eventTypeCode',
                  issue.code,
                  issue.description,
                  issue.startedAt,
                ),
              ]
            : []),
        ],
        chain: workloads.slice(0, 4).map((workload) => link(workload, 'is answered with a server error by the vendor')),
        nextSteps: [text(`Check ${vendorOf(facts)}’s status page and open a case with times and request ids.`)],
      },
    ];
  },
});

/** How AWS Health calls the service behind what the SDKs name: STS is part of IAM there. */
const healthNames: [said: RegExp, service: RegExp][] = [
  [/\bSTS\b|sts\.|AssumeRole|AWSSecurityTokenService/, /^(IAM|STS)$/],
  [/\bSQS\b|sqs\./, /^SQS$/],
  [/\bSNS\b|sns\./, /^SNS$/],
  [/\bDynamoDB\b|dynamodb\./i, /^DYNAMODB$/],
  [/\bKMS\b|kms\./i, /^KMS$/],
  [/\bSecrets ?Manager\b|secretsmanager\./i, /^SECRETSMANAGER$/],
  [/\bSSM\b|ssm\./, /^(SSM|SYSTEMSMANAGER)$/],
  [/\bS3\b|s3[.-]/, /^S3$/],
  [/\bECR\b|\.dkr\.ecr\./, /^ECR$/],
  [/\bEC2\b|ec2\./, /^EC2$/],
  [/\bLambda\b|lambda\./, /^LAMBDA$/],
  [/\bKinesis\b|kinesis\./, /^KINESIS/],
  [/\bFirehose\b|firehose\./, /^FIREHOSE$|^KINESISFIREHOSE$/],
  [/\bEventBridge\b|\bevents\.[a-z]{2}-/, /^(EVENTS|EVENTBRIDGE)$/],
  [/\b(SFN|Step Functions)\b|\bstates\.[a-z]{2}-/, /^(STATES|STEPFUNCTIONS)$/],
  [/\bCloudWatch\w*\b|\b(logs|monitoring)\.[a-z]{2}-/i, /^CLOUDWATCH/],
  [/\bCognito\w*\b|cognito-/, /^COGNITO/],
];
/** A complaint may be logged a little before the vendor dates its event. */
const slackMinutes = 15;

/** The vendor's open event on a service that these lines name, begun before them. */
const issueBehind = (facts: ClusterFacts, said: string[], onset: string | undefined): HealthEvent | undefined =>
  openIssues(facts).find(
    (issue) =>
      !(minutesBetween(issue.startedAt, onset) < -slackMinutes) &&
      healthNames.some(([words, service]) => service.test(issue.service) && said.some((line) => words.test(line))),
  );
