import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { authorOf, citeChange, lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import type { Scope } from '../../facts/scope.ts';
import { growth, lastValue } from '../../facts/series.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { type Throttled, throttledOf } from '../../facts/workloads/throttling.ts';
import { containerOf, containerPath } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What requests or lookups of many teams pass through. */
const entry =
  /ingress|gateway|traefik|nginx|envoy|haproxy|kong|contour|istio|linkerd|coredns|kube-dns|node-local-dns|proxy/i;
const slow = /slow|latenc|duration|p9\d|timeout|time[sd]? out|\b50[234]\b|5xx|error|probe|unavailab|lookup|dns/i;
/** From this share of its periods on, requests wait for the next one. */
const held = 0.25;
const worse = 1.3;
const recentMinutes = 7 * 24 * 60;

export default rule({
  title:
    'A shared entry of the cluster (ingress controller, gateway, DNS) is held back by its CPU limit and delays all behind it',
  lookAlikes: [
    'the workload’s own latency grew as well: its own matter',
    'the workload’s own container is throttled',
    'an entry that is throttled as ever',
  ],
  judge(facts, scope) {
    const words = facts.alerts
      .map((alert) => [...Object.values(alert.labels), ...Object.values(alert.annotations)].join(' '))
      .join(' ');
    if (scope.wide || !slow.test(words) || ownLatencyGrew(facts, scope)) return [];
    const entries = ['Deployment', 'DaemonSet', 'StatefulSet']
      .flatMap((kind) => facts.all(kind))
      .filter((workload) => entry.test(workload.metadata.name) && !scope.workloads.includes(workload))
      .filter((workload) => ownershipOf(facts, workload) === 'platform');
    return entries
      .flatMap((workload) => {
        const measured = throttledOf(facts, facts.podsOf(workload)).filter(
          ({ share, before }) => share >= held && !(before * worse > share),
        );
        return measured.length > 0 ? [{ workload, measured }] : [];
      })
      .sort((a, b) => b.measured[0]!.share - a.measured[0]!.share)
      .slice(0, 1)
      .flatMap(({ workload, measured }) => throttledFinding(facts, scope, workload, measured));
  },
});

const throttledFinding = (
  facts: ClusterFacts,
  scope: Scope,
  workload: KubeObject,
  measured: Throttled[],
): FindingDraft[] => {
  const { series, share } = measured[0]!;
  const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
  const container = series.labels.container ?? '';
  const limit = pod && containerOf(pod, container)?.resources?.limits?.cpu;
  if (!pod || !limit) return [];
  const change = lastChangeOf(facts, workload);
  const limited = change?.what.find((what) => what.startsWith('resources'));
  const recent = change && limited && minutesBetween(change.at, facts.now) <= recentMinutes ? change : undefined;
  const effects = effectsOf(facts).slice(0, 3);
  const evidence = cite('platform', facts);
  const author = recent && authorOf(recent);
  return [
    {
      mechanism: 'throttling',
      explains: ['application-error', 'dependency', 'probe', 'load', 'traffic', 'dns', 'unknown-symptom'],
      owner: 'platform',
      boundary: 'config',
      strength: recent && measured.length > 1 ? 'direct' : 'derived',
      cause: text(
        `${nameOf(workload)} is held back in ${Math.round(share * 100)}% of its periods by its CPU limit of ${limit}${recent ? `, set ${duration(minutesBetween(recent.at, facts.now))} ago${author ? ` ${author}` : ''}` : ''}, and delays what passes through it${effects.length > 1 ? `: ${effects.length} hosts got slow` : ''}; the services behind it answer as fast as before.`,
      ),
      root: refOf(workload),
      affects: [...scope.workloads, ...scope.pods].map(refOf),
      onset: recent?.at,
      evidence: [
        ...measured
          .slice(0, 2)
          .map((entry) =>
            evidence.series(
              entry.series,
              `${Math.round(entry.share * 100)}% of periods, ${Math.round(entry.before * 100)}% before`,
            ),
          ),
        evidence.field(pod, containerPath(pod, container, 'resources.limits.cpu'), limit),
        ...(recent ? citeChange(evidence, recent, 'changed before the trouble') : []),
        ...effects.map((series) => evidence.series(series, `grew to ${lastValue(series)}`)),
        ...ownLatency(facts, scope)
          .slice(0, 1)
          .map((series) => evidence.series(series, `as before, ${lastValue(series)}`)),
      ],
      chain: [
        link(workload, `limits ${container} to ${limit}`),
        ...scope.workloads.slice(0, 1).map((victim) => link(victim, 'is reached through it, late')),
      ],
      contributing: [],
      nextSteps: [
        text(
          recent?.undo
            ? `Take the limit back: ${recent.undo}`
            : `Raise or drop resources.limits.cpu of ${container}: kubectl get ${workload.kind.toLowerCase()} ${workload.metadata.name} -n ${workload.metadata.namespace} -o yaml`,
        ),
      ],
    },
  ];
};

const isLatency = /(latency|duration|response_time).*(p9\d|seconds|ms)|p9\d/i;

/** What the services measure of themselves, which no entry delays. */
const ownLatency = (facts: ClusterFacts, scope: Scope) =>
  facts
    .seriesLike(/^(?!probe_|nginx_|haproxy_|traefik_|envoy_|coredns_|apiserver_|etcd_|container_|kube_|node_|aws_).*/)
    .filter(({ name, labels }) => isLatency.test(name) && scope.namespaces.includes(labels.namespace ?? ''));

const ownLatencyGrew = (facts: ClusterFacts, scope: Scope): boolean =>
  ownLatency(facts, scope).some((series) => growth(series) > worse);

/** What callers from outside measure. */
const effectsOf = (facts: ClusterFacts) =>
  facts
    .seriesLike(/^probe_duration|^(nginx|traefik|haproxy|envoy)\w*(?:duration|latency)/)
    .filter((series) => growth(series) > worse);
