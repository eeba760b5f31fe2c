import type { CloudWatchSeries, Series } from '../../domain/facts.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { openIssues } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isReady } from '../../facts/pods.ts';
import { lastValue, mean } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** What the balancer does by itself; a target's own resets and errors speak of the target. */
const own: [string, string][] = [
  ['AWS/NetworkELB', 'TCP_ELB_Reset_Count'],
  ['AWS/NetworkELB', 'PortAllocationErrorCount'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_5XX_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_502_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_503_Count'],
  ['AWS/ApplicationELB', 'HTTPCode_ELB_504_Count'],
];
/** One zone's figure must stand out by this factor from the other zones'. */
const factor = 20;
const symptom = /slow|latency|probe|5xx|error|timeout|reset|availability|blackbox|ingress|duration/i;

export default rule({
  title: 'The load balancer misbehaves in one zone while its targets and the service behind it are well',
  lookAlikes: [
    'targets of that zone are unhealthy: nodes or pods',
    'the service behind is slow too',
    'the balancer’s errors in all zones: no ready target',
  ],
  judge(facts, scope) {
    const alert = facts.alerts.some((entry) =>
      symptom.test(
        `${entry.labels.alertname} ${entry.annotations.description ?? ''} ${entry.annotations.summary ?? ''}`,
      ),
    );
    if (!alert || scope.subjectNodes.length > 0) return [];
    const outlier = outlierZone(facts);
    const probe = outlierProbe(facts);
    const issue = openIssues(facts, /ELASTICLOADBALANCING/)[0];
    if (!outlier && !(probe && issue)) return [];
    const zone = outlier?.zone ?? probe!.series.labels.zone ?? probe!.series.labels.ip ?? '';
    if (outlier && unhealthyTargets(facts, outlier.zone)) return [];
    if (scope.pods.length > 0 && !scope.pods.every(isReady)) return [];
    const evidence = cite('cloud', facts);
    const inside = facts
      .seriesLike(/^(nginx_ingress_controller_request_duration|http_server_request_duration|istio_request_duration)/)
      .filter(flat);
    return [
      {
        mechanism: 'zone-outage',
        explains: [
          'application-error',
          'traffic',
          'load',
          'dependency',
          'rollout',
          'unknown-symptom',
          'probe',
          'network',
        ],
        owner: 'cloud',
        boundary: 'network',
        strength: issue || (outlier && probe) ? 'direct' : 'derived',
        cause: text(
          `The load balancer's address in ${zone} misbehaves${outlier ? ` (${outlier.series.metric} ${outlier.series.points.at(-1)?.[1]} against ${Math.round(outlier.others)} in the other zones)` : ''}, while targets are healthy${inside.length > 0 ? ' and latency inside is flat' : ''}${issue ? `; the vendor has an open event (${issue.code})` : ''}.`,
        ),
        root: { kind: 'LoadBalancer', name: outlier?.series.dimensions.LoadBalancer ?? zone },
        affects: [...scope.workloads, ...scope.pods].map(refOf).concat(
          scope.subjects
            .filter((subject) => subject.name)
            .map((subject) => ({
              kind: subject.kind,
              name: subject.name!,
              ...(subject.kind === 'Namespace' ? {} : { namespace: subject.namespace }),
            })),
        ),
        onset: earliest(
          issue?.startedAt,
          outlier?.series.points.find(([, value]) => value > factor * Math.max(1, outlier.others))?.[0],
        ),
        evidence: [
          ...(issue
            ? [
                evidence.aws(
                  'health.describeEvents',
                  'events',
                  `${issue.code} ${issue.status}`,
                  issue.description,
                  issue.startedAt,
                ),
              ]
            : []),
          ...(outlier
            ? [
                evidence.cloudWatch(
                  outlier.series,
                  `${outlier.series.points[0]?.[1]} then ${outlier.series.points.at(-1)?.[1]} in ${outlier.zone}`,
                ),
              ]
            : []),
          ...(probe
            ? [
                evidence.series(
                  probe.series,
                  `${lastValue(probe.series)} s; other addresses ${probe.others.toFixed(2)} s`,
                ),
              ]
            : []),
          ...inside.slice(0, 2).map((series) => evidence.series(series, `flat at ${lastValue(series)}`)),
          ...facts
            .cloudWatch('AWS/NetworkELB', 'UnHealthyHostCount')
            .slice(0, 1)
            .map((series) => evidence.cloudWatch(series, `${series.points.at(-1)?.[1]} unhealthy`)),
        ],
        chain: [
          { object: `Load balancer in ${zone}`, claim: 'resets or delays connections' },
          ...scope.workloads.slice(0, 1).map((workload) => ({
            object: `${workload.kind} ${workload.metadata.namespace}/${workload.metadata.name}`,
            uid: workload.metadata.uid,
            claim: 'reached slowly',
          })),
        ],
        nextSteps: [
          text(`Take the zone out: start a zonal shift for the load balancer, or disable ${zone} in its subnets.`),
          text(`Open a case with AWS naming the balancer and ${zone}${issue ? `, event ${issue.code}` : ''}.`),
        ],
      },
    ];
  },
});

const outlierZone = (facts: ClusterFacts): { zone: string; series: CloudWatchSeries; others: number } | undefined => {
  for (const [namespace, metric] of own) {
    const series = facts
      .cloudWatch(namespace, metric)
      .filter((entry) => entry.dimensions.AvailabilityZone && entry.points.length > 0);
    const last = (entry: CloudWatchSeries): number => entry.points.at(-1)![1];
    const worst = [...series].sort((a, b) => last(b) - last(a))[0];
    const rest = series.filter((entry) => entry !== worst).map(last);
    if (worst && rest.length > 0 && last(worst) > factor * Math.max(1, mean(rest)))
      return { zone: worst.dimensions.AvailabilityZone!, series: worst, others: mean(rest) };
  }
  return undefined;
};

/** One address of several that a probe finds slow. */
const outlierProbe = (facts: ClusterFacts): { series: Series; others: number } | undefined => {
  const series = facts.series('probe_duration_seconds').filter((entry) => entry.labels.ip || entry.labels.zone);
  const worst = [...series].sort((a, b) => lastValue(b) - lastValue(a))[0];
  const rest = series.filter((entry) => entry !== worst).map(lastValue);
  return worst && rest.length > 0 && lastValue(worst) > 5 * mean(rest)
    ? { series: worst, others: mean(rest) }
    : undefined;
};

const unhealthyTargets = (facts: ClusterFacts, zone: string): boolean =>
  ['AWS/NetworkELB', 'AWS/ApplicationELB'].some((namespace) =>
    facts
      .cloudWatch(namespace, 'UnHealthyHostCount')
      .some((series) => series.dimensions.AvailabilityZone === zone && (series.points.at(-1)?.[1] ?? 0) > 0),
  );

const flat = (series: Series): boolean => {
  const values = series.points.map(([, value]) => value);
  return values.length > 3 && Math.max(...values) < 2 * Math.max(1e-9, Math.min(...values));
};
