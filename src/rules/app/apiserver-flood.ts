import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { failedChecks } from '../../facts/control-plane/apiserver.ts';
import { type LogLine, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { lastValue, rateCurve } from '../../facts/series.ts';
import { earliest, toMs } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A client that was throttled, in its own words. An eviction’s 429 names a disruption budget. */
const throttled = /\b429\b|Too Many Requests|too many requests, please try again later/i;
const budget = /disruption budget|DisruptionBudget|docker|registry|toomanyrequests|image/i;
/** What a client says of its own pace. That a list failed with 429 is what every victim says. */
const aggressive =
  /interval=\d+ms|poll(ing)?[ _-]?(interval|every)\D{0,3}\d+ ?ms|retrying (immediately|without (delay|backoff))|attempt[ =:]+\d{2,}|list(ed|ing) \d{3,}|bytes=\d{7,}|no informer|limit=0\b|resync(ing)? (all|every)/i;
const tuning = /POLL|INTERVAL|RESYNC|QPS|BURST|SCOPE|WORKERS|CONCURREN|PARALLEL|SYNC[_-]?PERIOD/i;
const polling = /POLL|RESYNC|SYNC_PERIOD|RELIST/i;
/** A rollout this long before the first rejection may have caused it: queues fill within minutes. */
const beforeMinutes = 45;
const afterMinutes = 3;

export default rule({
  title: 'API Priority and Fairness rejects requests (429): a client floods the API server',
  lookAlikes: [
    'eviction 429 of a PodDisruptionBudget',
    '429 of an image registry or another API',
    'etcd or the API server itself unhealthy: it is slow for everybody',
  ],
  judge(facts) {
    const rejected = rejections(facts);
    const complaints = linesLike(facts, throttled).filter(({ line }) => !budget.test(line));
    if (rejected.length === 0 && (complaints.length < 2 || !isApiAlert(facts))) return [];
    if (failedChecks(facts).some((check) => check.startsWith('etcd'))) return [];
    const onset = onsetOf(facts, rejected, complaints);
    const [flooder] = candidates(facts, onset);
    const level = [...new Set(rejected.map((series) => series.labels.priority_level).filter(Boolean))];
    const owner = flooder ? ownershipOf(facts, flooder.workload) : 'undetermined';
    const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
    const ready = facts.probe('readyz');
    const where = level.length > 0 ? ` of priority level ${level.join(', ')}` : '';
    return [
      {
        mechanism: 'api-flood',
        explains: [
          'control-plane',
          'controller-down',
          'scaling-metrics',
          'pending',
          'crash',
          'unknown-symptom',
          'node-churn',
          'rollout',
        ],
        owner,
        boundary: 'traffic',
        strength: flooder ? (flooder.rolled && flooder.lines.length > 0 ? 'direct' : 'derived') : 'circumstantial',
        cause: text(
          flooder
            ? `${flooder.workload.kind} ${flooder.workload.metadata.namespace}/${flooder.workload.metadata.name} (${flooder.workload.spec?.replicas ?? 1} replicas${flooder.rolled ? `, rolled out at ${flooder.rolled}` : ''}) floods the API server and fills the queues${where}, which answers 429${settings(flooder.workload)}.`
            : `The API server rejects requests${where} with 429; which client sends them cannot be told without per-client figures.`,
        ),
        root: flooder ? refOf(flooder.workload) : { kind: 'APIServer', name: facts.identity.name },
        affects: 'cluster',
        onset,
        evidence: [
          ...rejected.slice(0, 3).map((series) => evidence.series(series, `rises to ${lastValue(series)}`)),
          ...(flooder?.series ? [evidence.series(flooder.series, 'far more requests than any other client')] : []),
          ...(flooder ? tuningEvidence(facts, flooder.workload) : []),
          ...(flooder?.lines.slice(-3) ?? complaints.slice(-2)).map((entry) => evidence.log(entry.log, entry.line)),
          ...(flooder
            ? facts
                .eventsAbout(flooder.workload, 'ScalingReplicaSet')
                .slice(-1)
                .map((event) => evidence.event(event))
            : []),
          ...(ready ? [evidence.probe(ready)] : []),
        ],
        chain: [
          ...(flooder ? [link(flooder.workload, 'lists and polls without pause')] : []),
          { object: `API server of ${facts.identity.name}`, claim: `rejects requests${where} with 429` },
        ],
        contributing:
          flooder && owner === 'app'
            ? [
                {
                  owner: 'platform',
                  action: text(
                    'Give the client its own FlowSchema and a narrow priority level, so that one tenant cannot starve the others.',
                  ),
                },
              ]
            : [],
        nextSteps: [
          text(
            flooder
              ? `Scale down or roll back: kubectl -n ${flooder.workload.metadata.namespace} rollout undo ${flooder.workload.kind.toLowerCase()}/${flooder.workload.metadata.name}; then use informers with a namespace or field selector.`
              : 'kubectl get --raw /debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1, or count the audit log by userAgent',
          ),
        ],
        missing: flooder
          ? []
          : [
              {
                layer: 'app',
                missing: 'requests by client (audit log by user agent, or the flow-control request dump)',
                fix: 'kubectl get --raw /debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1',
              },
            ],
      },
    ];
  },
});

const isApiAlert = (facts: ClusterFacts): boolean =>
  facts.alerts.some((alert) => /^Kube(API|Client)/.test(alert.labels.alertname ?? ''));

const rises = (series: Series): boolean =>
  rateCurve(series)
    .points.slice(-6)
    .some(([, value]) => value > 0);

const rejections = (facts: ClusterFacts): Series[] =>
  [
    ...facts.series('apiserver_flowcontrol_rejected_requests_total'),
    ...facts.seriesLike(/^apiserver_request_total/).filter((series) => series.labels.code === '429'),
  ].filter((series) => (series.name.includes(':') ? lastValue(series) > 0 : rises(series)));

const onsetOf = (facts: ClusterFacts, rejected: Series[], lines: LogLine[]): string | undefined => {
  const first = rejected
    .flatMap((series) => rateCurve(series).points.find(([, value]) => value > 0)?.[0] ?? [])
    .sort((a, b) => a - b)[0];
  return earliest(
    first === undefined ? undefined : new Date(first * 1000).toISOString(),
    ...lines.map(({ line }) => timeOf(line, facts.now)),
    facts.alerts[0]?.startsAt,
  );
};

interface Flooder {
  workload: KubeObject;
  lines: LogLine[];
  rolled?: string;
  /** Its own count of requests, where it is by far the highest. */
  series?: Series;
  score: number;
}

/** Workloads that speak of their own busy requests, or were rolled out as the rejections began. */
const candidates = (facts: ClusterFacts, onset: string | undefined): Flooder[] => {
  const found = new Map<KubeObject, Flooder>();
  const of = (workload: KubeObject): Flooder => {
    const entry = found.get(workload) ?? { workload, lines: [], score: 0 };
    found.set(workload, entry);
    return entry;
  };
  for (const entry of linesLike(facts, aggressive)) {
    const pod = facts.find('Pod', entry.log.pod, entry.log.namespace);
    if (pod) of(facts.workloadOf(pod)).lines.push(entry);
  }
  const loudest = loudestClient(facts);
  if (loudest) of(facts.workloadOf(loudest.pod)).series = loudest.series;
  for (const set of facts.all('ReplicaSet')) {
    const minutes = (toMs(onset) - toMs(set.metadata.creationTimestamp)) / 60_000;
    if ((set.spec?.replicas ?? 0) > 0 && minutes <= beforeMinutes && minutes >= -afterMinutes)
      of(facts.workloadOf(set)).rolled = set.metadata.creationTimestamp;
  }
  for (const entry of found.values())
    entry.score =
      (entry.lines.length > 0 ? 3 : 0) +
      (entry.lines.some(({ line }) => throttled.test(line)) ? 1 : 0) +
      (entry.series ? 3 : 0) +
      (entry.rolled ? 1 : 0) +
      (tuningOf(entry.workload).length > 0 ? 1 : 0) +
      (entry.rolled && tuningOf(entry.workload).some(({ name }) => polling.test(name)) ? 1 : 0);
  // Time alone names nobody: several things are rolled out every hour.
  return [...found.values()].filter((entry) => entry.score >= 3).sort((a, b) => b.score - a.score);
};

/** The pod whose own client metrics show most requests of late, by far. */
const loudestClient = (facts: ClusterFacts): { pod: KubeObject; series: Series } | undefined => {
  const ranked = facts
    .series('rest_client_requests_total')
    .map((series) => {
      const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
      const client = pod ? refKey(facts.workloadOf(pod)) : (series.labels.job ?? series.labels.pod ?? '');
      return { pod, client, series, rate: rateCurve(series).points.at(-1)?.[1] ?? 0 };
    })
    .sort((a, b) => b.rate - a.rate);
  const [first] = ranked;
  const rival = ranked.find((entry) => entry.client !== first?.client);
  return first?.pod && rival && first.rate > 5 * Math.max(0.1, rival.rate)
    ? { pod: first.pod, series: first.series }
    : undefined;
};

const refKey = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

const tuningOf = (workload: KubeObject): { container: number; path: string; name: string; value: string }[] =>
  ((podSpecOf(workload)?.containers ?? []) as any[]).flatMap((container, at) =>
    [
      ...((container.env ?? []) as any[]).map((entry, index) => ({ ...entry, path: `env[${index}]` })),
      ...((container.args ?? []) as string[]).map((arg, index) => {
        const [, name = '', value = ''] = /^--?([\w-]+)=(.+)$/.exec(arg) ?? [];
        return { name, value, path: `args[${index}]` };
      }),
    ].flatMap(({ name, value, path }) => (tuning.test(name) && value ? [{ container: at, path, name, value }] : [])),
  );

const settings = (workload: KubeObject): string => {
  const found = tuningOf(workload);
  return found.length > 0 ? ` (${found.map((entry) => `${entry.name}=${entry.value}`).join(', ')})` : '';
};

const tuningEvidence = (facts: ClusterFacts, workload: KubeObject) =>
  tuningOf(workload)
    .slice(0, 4)
    .map((entry) =>
      cite('app', facts).field(
        workload,
        `spec.template.spec.containers[${entry.container}].${entry.path}`,
        `${entry.name}=${entry.value}`,
      ),
    );
