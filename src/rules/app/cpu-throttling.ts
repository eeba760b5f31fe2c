import type { Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { growth, lastValue, rate } from '../../facts/series.ts';
import { addMinutes } from '../../facts/time.ts';
import { throttledOf } from '../../facts/workloads/throttling.ts';
import { containerOf, containerPath } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Latency or errors that grew by more than this are an effect. */
const harmful = 1.3;
/** Share of throttled periods from which throttling is worth a word. */
const throttledShare = 0.25;

export default rule({
  title: 'A container meets its CPU limit: harmless while latency, errors and replicas stay as they were',
  lookAlikes: [
    'throttling with latency that grew: the limit is too low for the load',
    'slow without any CPU limit: not throttling',
  ],
  judge(facts, scope) {
    const alerted = facts.alerts.filter((alert) => /throttl/i.test(alert.labels.alertname ?? ''));
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const pods = facts.podsOf(workload);
      const name = alerted
        .map((alert) => alert.labels.container)
        .find((entry) => entry && pods.some((pod) => containerOf(pod, entry)));
      const measured = throttled(facts, pods);
      const container = name ?? measured?.labels.container;
      const pod = pods.find((entry) => container && containerOf(entry, container)?.resources?.limits?.cpu);
      if (!pod || !container || (alerted.length === 0 && !measured)) return [];
      const limit = containerOf(pod, container).resources.limits.cpu;
      const effects = effectSeries(facts, workload);
      const worse = effects.filter((series) => grew(series));
      const calm = worse.length === 0 && pods.every(isReady);
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'throttling',
          explains: calm ? [] : ['application-error', 'probe', 'unknown-symptom'],
          state: calm ? 'expected' : 'fault',
          owner: calm ? 'undetermined' : owner,
          boundary: 'config',
          strength: calm ? (effects.length > 0 ? 'direct' : 'derived') : 'derived',
          cause: text(
            calm
              ? `Container ${container} of ${nameOf(workload)} bursts into its CPU limit of ${limit}; ${effects.length > 0 ? 'latency and errors are as before' : 'nothing shows harm'}, so it is information only.`
              : `Container ${container} of ${nameOf(workload)} is held back by its CPU limit of ${limit}: ${worse.map((series) => series.name).join(', ') || 'its pods are not ready'} got worse.`,
          ),
          root: refOf(workload),
          affects: [workload, ...pods].map(refOf),
          evidence: [
            evidence.field(pod, containerPath(pod, container, 'resources.limits.cpu'), limit),
            ...(measured ? [evidence.series(measured, 'throttled periods')] : []),
            ...effects
              .slice(0, 3)
              .map((series) => evidence.series(series, `${grew(series) ? 'grew' : 'flat'}, now ${lastValue(series)}`)),
          ],
          chain: [link(workload, `limits ${container} to ${limit}`), link(pod, 'is throttled in bursts')],
          nextSteps: [
            text(
              calm
                ? 'Raise or drop the CPU limit at leisure; silence or raise the threshold of the alert.'
                : `Raise resources.limits.cpu of ${container} above ${limit}, or drop it.`,
            ),
          ],
          ...(calm ? { deadline: addMinutes(facts.now, 24 * 60) } : {}),
        },
      ];
    });
  },
});

/** The container with most throttled periods, where they are measured. */
const throttled = (facts: ClusterFacts, pods: KubeObject[]): Series | undefined =>
  throttledOf(facts, pods).find(({ share }) => share > throttledShare)?.series;

const effectName = /latency|duration|p9\d|error|5xx|failed/i;

/** What users feel of a workload: latency series, and counters of server errors. */
const effectSeries = (facts: ClusterFacts, workload: KubeObject): Series[] =>
  facts
    .seriesLike(/^(?!container_|kube_|node_|apiserver_|etcd_|coredns_).*/)
    .filter((series) => series.labels.namespace === workload.metadata.namespace)
    .filter((series) => !series.labels.service || series.labels.service === workload.metadata.name)
    .filter((series) => effectName.test(series.name) || /^5/.test(series.labels.code ?? ''));

const grew = (series: Series): boolean =>
  /_total$/.test(series.name)
    ? rate(series, series.points[Math.floor((3 * series.points.length) / 4)]?.[0]) >
      Math.max(0.02, harmful * (rate(series, -Infinity, series.points[Math.floor(series.points.length / 2)]?.[0]) || 0))
    : growth(series) > harmful;
