import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { grep, loggedPods } from '../../facts/logs/pod-logs.ts';
import { vendorOf } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The vendor's own API answers with an error of its own: by its client library's words, or its host and a 5xx. */
const serverError =
  /googleapi: Error 50[0234]\b|Visibility check was unavailable|backendError\b|\(Service: [\w ]+[;,] Status Code: 50[0234]\b|(googleapis\.com|pkg\.dev|gcr\.io|amazonaws\.com|azure\.(com|net)|windows\.net|azurecr\.io|microsoftonline\.com|aliyuncs\.com|myhuaweicloud\.com)\b[^\n]{0,160}\b(50[0234] |InternalError|InternalServerError|ServiceUnavailable|Internal Server Error|Service Unavailable)/i;
/** Answers that speak of the caller's own rate, though their status is a server's. */
const callers = /SlowDown|Throttl|rate ?(limit|exceeded)|quota/i;
const recentMinutes = 30;

export default rule({
  title: 'The vendor’s APIs answer several unrelated workloads with errors of their own',
  lookAlikes: [
    'one workload alone is answered 5xx: its own requests or resource',
    'refused credentials, quotas and throttling are the caller’s',
  ],
  judge(facts) {
    const lines = loggedPods(facts).flatMap((pod) =>
      grep(facts, [pod], serverError)
        .filter((line) => !callers.test(line.text) && !(minutesBetween(line.at, facts.now) > recentMinutes))
        .slice(-1)
        .map((line) => ({ pod, line })),
    );
    const events = facts.events.filter(
      (event) =>
        event.reason === 'Failed' &&
        serverError.test(event.message) &&
        minutesBetween(event.lastAt, facts.now) < recentMinutes,
    );
    const eventPods = events.flatMap((event) => facts.resolve(event.regarding) ?? []);
    const pods = [...new Set([...lines.map((entry) => entry.pod), ...eventPods])];
    const namespaces = new Set(pods.map((pod) => pod.metadata.namespace));
    if (namespaces.size < 2) return [];
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
          'rollout',
          'unknown-symptom',
        ].map((entry) => entry as 'crash'),
        owner: 'cloud' as const,
        boundary: null,
        strength: namespaces.size > 2 ? ('direct' as const) : ('derived' as const),
        cause: text(
          `${vendorOf(facts)}’s own APIs answer ${workloads.length} workloads of ${namespaces.size} namespaces with server errors: ${workloads.map(nameOf).slice(0, 4).join(', ')}.`,
        ),
        root: { kind: 'Cluster', name: facts.identity.name },
        affects: [...pods, ...workloads].map(refOf),
        onset: earliest(...lines.map((entry) => entry.line.at), ...events.map((event) => event.firstAt)),
        evidence: [
          ...[...perWorkload.values()].slice(0, 5).map(({ line }) => evidence.log(line.log, line.text)),
          ...events.slice(0, 1).map((event) => evidence.event(event)),
        ],
        chain: workloads.slice(0, 4).map((workload) => link(workload, 'is answered with a server error by the vendor')),
        nextSteps: [text(`Check ${vendorOf(facts)}’s status page and open a case with times and request ids.`)],
      },
    ];
  },
});
