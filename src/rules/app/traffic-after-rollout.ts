import type { Series } from '../../domain/facts.ts';
import { type KubeObject, keyOf, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { mean, rate, rateCurve } from '../../facts/series.ts';
import { duration, minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const aboutTraffic = /nat|egress|traffic|bytes|bandwidth|data ?transfer|network/i;
const byteMetrics = ['container_network_receive_bytes_total', 'container_network_transmit_bytes_total'];
const gatewayMetrics = ['BytesInFromDestination', 'BytesOutToDestination', 'BytesOutToSource', 'BytesInFromSource'];
/** A workload that moves this share of what is measured carries the growth. */
const dominant = 0.5;
const rolloutDays = 7;
const growthFactor = 1.5;

export default rule({
  title: 'Traffic through a gateway jumped with the rollout of one workload, whose own bytes explain it',
  lookAlikes: [
    'traffic to a cloud service without its gateway endpoint: the route, not the application',
    'growth spread over many workloads: demand',
  ],
  judge(facts) {
    const alerted = facts.alerts.some((alert) =>
      aboutTraffic.test(`${alert.labels.alertname} ${alert.annotations.summary ?? ''}`),
    );
    if (!alerted) return [];
    return byteMetrics.flatMap((metric) => trafficFinding(facts, metric)).slice(0, 1);
  },
});

interface Talker {
  workload: KubeObject;
  series: Series[];
  /** Bytes per second of all its pods now. */
  bytes: number;
}

const talkersOf = (facts: ClusterFacts, metric: string): Talker[] => {
  const measured = facts.series(metric).flatMap((series) => {
    const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
    return pod ? [{ series, workload: facts.workloadOf(pod) }] : [];
  });
  return groupBy(measured, (entry) => keyOf(refOf(entry.workload)))
    .map((group) => ({
      workload: group[0]!.workload,
      series: group.map((entry) => entry.series),
      bytes: group.reduce((total, entry) => total + (rate(entry.series) || 0), 0),
    }))
    .sort((a, b) => b.bytes - a.bytes);
};

const trafficFinding = (facts: ClusterFacts, metric: string): FindingDraft[] => {
  const talkers = talkersOf(facts, metric);
  const [first] = talkers;
  const total = talkers.reduce((sum, talker) => sum + talker.bytes, 0);
  if (!first || first.bytes < dominant * total || first.bytes <= 0) return [];
  const rollout = rolloutOf(facts, first.workload);
  const age = rollout ? minutesBetween(rollout.at, facts.now) : Number.NaN;
  const rose = first.series.some((series) => growth(series) > growthFactor);
  const fresh = rollout?.previous && age < rolloutDays * 24 * 60 ? rollout : undefined;
  if (!fresh && !rose) return [];
  const changes = fresh?.previous ? templateChanges(fresh.previous, fresh.current) : [];
  const gateway = gatewayMetrics
    .flatMap((name) => facts.cloudWatch('AWS/NATGateway', name))
    .map((series) => ({ series, factor: jump(series.points.map(([, value]) => value)) }))
    .sort((a, b) => b.factor - a.factor)[0];
  const own = fresh ? turnedWith(facts, first.workload, fresh.at) : undefined;
  const owner = ownershipOf(facts, first.workload);
  const evidence = cite(owner, facts);
  const share = Math.round((100 * first.bytes) / total);
  return [
    {
      mechanism: 'traffic',
      explains: ['network', 'load', 'unknown-symptom'],
      owner,
      boundary: 'traffic',
      strength: fresh && (changes.length > 0 || own) ? 'direct' : 'derived',
      cause: text(
        `${nameOf(first.workload)} moves ${(first.bytes / 1e6).toFixed(1)} MB/s, ${share}% of what is measured${fresh ? `, since its rollout ${duration(age)} ago (${changes.slice(0, 3).join('; ') || fresh.at})` : ''}${gateway && gateway.factor > growthFactor ? `; ${gateway.series.metric} of the gateway rose ${gateway.factor.toFixed(1)}-fold` : ''}${own ? `; ${own.name} turned at the same time` : ''}.`,
      ),
      root: refOf(first.workload),
      affects: facts.subjects.some((subject) => subject.kind === 'Cluster')
        ? 'cluster'
        : [first.workload, ...facts.podsOf(first.workload)].map(refOf),
      onset: fresh?.at,
      evidence: [
        ...first.series
          .slice(0, 2)
          .map((series) => evidence.series(series, `${((rate(series) || 0) / 1e6).toFixed(2)} MB/s`)),
        ...(gateway ? [evidence.cloudWatch(gateway.series, `× ${gateway.factor.toFixed(1)} over the time seen`)] : []),
        ...(own ? [evidence.series(own, `turned from ${own.points[0]![1]} to ${own.points.at(-1)![1]}`)] : []),
        ...(fresh
          ? [
              evidence.field(
                fresh.current,
                'spec.template.spec.containers[0]',
                changes.join('; '),
                `created ${fresh.at}`,
              ),
            ]
          : []),
      ],
      chain: [
        link(first.workload, `moves ${share}% of the bytes`),
        ...(fresh ? [link(fresh.current, `rolled out at ${fresh.at}`)] : []),
      ],
      contributing: [],
      nextSteps: [
        ...(fresh
          ? [
              text(
                `kubectl rollout undo ${first.workload.kind.toLowerCase()}/${first.workload.metadata.name} -n ${first.workload.metadata.namespace}, or undo what changed: ${changes.slice(0, 3).join('; ')}`,
              ),
            ]
          : []),
        text(`topk(5, sum by (namespace, pod) (rate(${metric}[1h])))`),
      ],
    },
  ];
};

const growth = (series: Series): number => jump(rateCurve(series).points.map(([, value]) => value));

/** Mean of the last quarter over that of the first. */
const jump = (values: number[]): number => {
  const quarter = Math.floor(values.length / 4);
  return quarter < 1 ? Number.NaN : mean(values.slice(-quarter)) / Math.max(1e-9, mean(values.slice(0, quarter)));
};

/** A gauge of the application itself that changed its level when the rollout came. */
const turnedWith = (facts: ClusterFacts, workload: KubeObject, at: string): Series | undefined => {
  const time = Date.parse(at) / 1000;
  return facts
    .seriesLike(/^(?!container_|kube_|node_|karpenter_|apiserver_).*(?:ratio|hit|cache|miss|requests|downloads|bytes)/)
    .filter((series) => series.labels.namespace === workload.metadata.namespace && !/_total$/.test(series.name))
    .find((series) => {
      const before = series.points.filter(([when]) => when < time).map(([, value]) => value);
      const after = series.points.filter(([when]) => when > time + 3600).map(([, value]) => value);
      if (before.length < 2 || after.length < 2) return false;
      const [a, b] = [mean(before), mean(after)];
      return Math.abs(a - b) > 0.4 * Math.max(Math.abs(a), Math.abs(b));
    });
};
