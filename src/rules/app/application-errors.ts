import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine, speaksOfSurroundings } from '../../facts/logs/pod-logs.ts';
import { isVendorFailure } from '../../facts/logs/vendor-errors.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady, restarts } from '../../facts/pods.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { crashesOf } from '../../facts/workloads/crashes.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** An error of the program's own code: an exception with a name, a stack frame, a failed assertion. */
const codeError =
  /\b(?:[A-Z]\w*(?:Error|Exception)|panic|NullPointer\w*|undefined is not|Cannot read propert\w+|nil pointer|index out of range|invalid memory address|division by zero|assertion failed|unhandled)\b|\bat [\w./$<>]+\.(?:py|js|ts|java|kt|go|rb|php|cs):\d+/;
/** A request that failed by the program's own account. */
const failedRequest =
  /\b(?:ERROR|FATAL|CRITICAL)\b.*\b(?:5\d\d)\b|\b5\d\d\b.*\b(?:ERROR|Internal Server Error)\b|"?(?:status|code)"?[=:]\s*"?5\d\d/;
/** A request the program itself sent: the 5xx is another server's answer. A served request's path stands alone. */
const peerAnswers =
  /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|call(?:ing|ed)?|request(?:ing)? to|from|to|upstream|fetch(?:ing)?)\b[ :="'[]{1,3}(?:https?|grpc):\/\/[^\n]{0,300}\b5\d\d\b/i;
/** What a store answered, in its client's exception: the store's state may be whoever's. */
const storeAnswers = /\b(?:ReplyError|MongoServerError|OOM command not allowed|MISCONF|READONLY You can't write)\b/;
/** A change the program itself reports. */
const change =
  /feature[ _-]?flag|flag .*(?:enabled|disabled|set|switched)|toggle|rollout of|experiment .*(?:enabled|started)|config(?:uration)? (?:re)?load|enabled for \d+%|switched to/i;
const recentMinutes = 120;
const minLines = 2;

export default rule({
  title: 'An application errs in its own code while its pods run: since a rollout, a flag or a configuration it loaded',
  lookAlikes: [
    'errors about peers, resolvers, certificates or disks, and what a peer or the vendor answered: their cause lies elsewhere',
    'noise of nodes and autoscalers that never touched these pods',
  ],
  judge(facts, scope) {
    const pods = scope.pods.filter((pod) => crashesOf(facts, [pod]).length === 0);
    const lines = grep(facts, pods, /./)
      .filter((line) => codeError.test(line.text) || failedRequest.test(line.text))
      .filter((line) => !speaksOfSurroundings.test(line.text) && !isVendorFailure(line.text))
      .filter((line) => codeError.test(line.text) || !peerAnswers.test(line.text))
      .filter((line) => !line.at || minutesBetween(line.at, facts.now) <= recentMinutes);
    return groupBy(lines, (line) => ownerName(facts, line)).flatMap((group) => errorFinding(facts, scope.pods, group));
  },
});

const ownerName = (facts: ClusterFacts, line: PodLogLine): string => nameOf(facts.workloadOf(podOf(facts, line)));
const podOf = (facts: ClusterFacts, line: PodLogLine): KubeObject =>
  facts.find('Pod', line.log.pod, line.log.namespace)!;

const errorFinding = (facts: ClusterFacts, scoped: KubeObject[], group: PodLogLine[]): FindingDraft[] => {
  const coded = group.filter((line) => codeError.test(line.text));
  const entry = coded.at(-1) ?? group.at(-1)!;
  const workload = facts.workloadOf(podOf(facts, entry));
  const pods = scoped.filter((pod) => facts.workloadOf(pod) === workload);
  if (group.length < minLines) return [];
  const onset = earliest(...group.map((line) => line.at)) ?? facts.now;
  const rollout = rolloutBefore(facts, workload, onset, 6 * 60);
  const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
  const told = grep(facts, pods, change).filter((line) => !line.at || Math.abs(minutesBetween(line.at, onset)) < 30);
  const steady = pods.length > 0 && pods.every((pod) => isReady(pod) && restarts(pod) === 0);
  const since = told[0]
    ? `after "${told[0].text.replace(/^\S+Z?\s+/, '').slice(0, 100)}"`
    : rollout
      ? `since the rollout at ${rollout.at}${changes[0] ? ` (${changes[0]})` : ''}`
      : '';
  const relayed = storeAnswers.test(entry.text);
  const strength: Strength = relayed
    ? 'derived'
    : coded.length > 0 && steady
      ? 'direct'
      : coded.length > 0 && since
        ? 'direct'
        : 'derived';
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const oldest = earliest(...pods.map((pod) => pod.metadata.creationTimestamp));
  return [
    {
      mechanism: 'application-error',
      explains: ['unknown-symptom', 'probe'],
      owner,
      boundary: 'application',
      strength,
      cause: text(
        `${nameOf(workload)} errs in its own code${since ? ` ${since}` : ''}: "${entry.text.slice(0, 180)}"${steady ? `; its ${pods.length} pods are ready without a restart${oldest ? `, the oldest for ${duration(minutesBetween(oldest, facts.now))}` : ''}` : ''}.`,
      ),
      root: refOf(workload),
      affects: [workload, ...pods, ...pods.slice(0, 1).flatMap((pod) => facts.servicesOf(pod))].map(refOf),
      onset: rollout?.at ?? onset,
      evidence: [
        ...[...new Set([group[0]!, entry, ...(coded[0] ? [coded[0]] : [])])].map((line) =>
          evidence.log(line.log, line.text),
        ),
        ...told.slice(0, 1).map((line) => evidence.log(line.log, line.text)),
        ...(rollout
          ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; '))]
          : []),
        ...pods.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
      ],
      chain: [
        link(workload, since || 'errs in its own code'),
        ...pods.slice(0, 2).map((pod) => link(pod, 'runs and answers with errors')),
      ],
      contributing: [],
      nextSteps: [
        ...(told[0] ? [text('Switch back what the log says was switched, then repair the code.')] : []),
        ...(rollout
          ? [
              text(
                `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
              ),
            ]
          : []),
        text(`kubectl logs -n ${entry.log.namespace} ${entry.log.pod} -c ${entry.log.container} | grep -i error`),
      ],
    },
  ];
};
