import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type LogLine, linesLike } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims, isDnsAlert } from '../../facts/network/dns.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { growth, lastValue, rateCurve, risesAt } from '../../facts/series.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { rule } from '../../triage/rule.ts';

/** CoreDNS' query log: the client's address stands before the question. */
const query = /\[INFO\] \[?([\d.]+|[0-9a-f:]+)\]?:\d+ - \d+ "(?:A|AAAA|SRV|PTR|TXT) /;
/** Questions grew by this much: more than a day's course brings. */
const flood = 4;
/** Of the questions in the log, this share comes from one workload. */
const share = 0.5;

export default rule({
  title: 'Cluster DNS is slow because one workload asks it far more than before',
  lookAlikes: ['questions as before: the resolvers, their nodes or the upstream', 'one replica only: its node'],
  judge(facts, scope) {
    const asked = [
      ...facts.series('coredns_dns_requests_total:rate5m'),
      ...facts.series('coredns_dns_requests_total').map(rateCurve),
    ].filter((series) => growth(series) >= flood);
    if (asked.length === 0 || !(isDnsAlert(facts) || scope.pods.some((pod) => dnsPods(facts).includes(pod)))) return [];
    if (dnsPods(facts).some((pod) => !isReady(pod))) return [];
    const onset = onsetOf(asked);
    const client = loudest(facts);
    const rollout = client && rolloutBefore(facts, client.workload, onset ?? facts.now, 60);
    const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
    const owner = client ? ownershipOf(facts, client.workload) : 'undetermined';
    const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
    const slow = facts.series('coredns_dns_request_duration_seconds:p99').filter((series) => growth(series) >= flood);
    return [
      {
        mechanism: 'dns',
        explains: ['application-error', 'dependency', 'probe', 'unknown-symptom', 'load', 'throttling'],
        owner,
        boundary: 'dns',
        strength: client ? (rollout ? 'direct' : 'derived') : 'circumstantial',
        cause: text(
          `Cluster DNS gets ${growth(asked[0]!).toFixed(0)} times the questions of before (${Math.round(lastValue(asked[0]))} a second on one replica)${client ? `, ${Math.round(client.share * 100)}% of the logged ones from ${nameOf(client.workload)}${rollout ? `, rolled out at ${rollout.at}${changes[0] ? ` (${changes.slice(0, 3).join('; ')})` : ''}` : ''}` : '; who asks them cannot be told'}.`,
        ),
        root: client ? refOf(client.workload) : { kind: 'Service', name: 'kube-dns', namespace: 'kube-system' },
        affects: dnsVictims(facts, scope),
        onset: rollout?.at ?? onset,
        evidence: [
          ...asked
            .slice(0, 2)
            .map((series) => evidence.series(series, `× ${growth(series).toFixed(1)}, now ${lastValue(series)}`)),
          ...slow.slice(0, 1).map((series) => evidence.series(series, `now ${lastValue(series)} s`)),
          ...(client?.lines.slice(-2).map((entry) => evidence.log(entry.log, entry.line)) ?? []),
          ...(rollout
            ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; '))]
            : []),
        ],
        chain: [
          ...(client ? [link(client.workload, 'asks without a cache')] : []),
          ...dnsPods(facts)
            .slice(0, 2)
            .map((pod) => link(pod, 'busy')),
        ],
        contributing:
          owner === 'app'
            ? [
                {
                  owner: 'platform',
                  action: text('Relieve cluster DNS: more replicas, or a DNS cache on each node.'),
                },
              ]
            : [],
        nextSteps: [
          text(
            client
              ? `kubectl rollout undo ${client.workload.kind.toLowerCase()}/${client.workload.metadata.name} -n ${client.workload.metadata.namespace}; keep names in a cache, end external names with a dot or lower ndots.`
              : 'Add `log` to the Corefile for some minutes and count the clients: kubectl -n kube-system logs -l k8s-app=kube-dns --tail=2000',
          ),
        ],
        missing: client
          ? []
          : [
              {
                layer: 'app',
                missing: 'which clients ask (the query log of CoreDNS)',
                fix: 'add the log plugin to the Corefile for some minutes',
              },
            ],
      },
    ];
  },
});

const onsetOf = (asked: Series[]): string | undefined => {
  const rise = asked.map((series) => risesAt(series, 2)).filter((at) => at !== undefined);
  return rise.length > 0 ? new Date(Math.min(...rise) * 1000).toISOString() : undefined;
};

/** The workload whose pods ask most of the logged questions. */
const loudest = (facts: ClusterFacts): { workload: KubeObject; share: number; lines: LogLine[] } | undefined => {
  const byAddress = new Map(facts.all('Pod').map((pod) => [pod.status?.podIP as string | undefined, pod]));
  const lines = linesLike(facts, query).flatMap((entry) => {
    const pod = byAddress.get(query.exec(entry.line)![1]);
    return pod && !pod.spec?.hostNetwork ? [{ ...entry, workload: facts.workloadOf(pod) }] : [];
  });
  const [top] = groupBy(lines, (entry) => nameOf(entry.workload)).sort((a, b) => b.length - a.length);
  return top && lines.length >= 5 && top.length / lines.length >= share
    ? { workload: top[0]!.workload, share: top.length / lines.length, lines: top }
    : undefined;
};
