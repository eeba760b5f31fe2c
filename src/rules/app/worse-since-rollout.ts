import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { trafficGrowth } from '../../facts/growth.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { mean, rateCurve } from '../../facts/series.ts';
import { rolloutBefore, templateChanges } from '../../facts/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const feltByUsers = /error|5xx|latency|duration|p9\d|failed|ratio/i;
/** A level this many times the former one is a step, where it stays above a floor of noise. */
const step = 2;
const floor = 1e-4;
/** The step must come with the rollout: replicas change over minutes, and scrapes lag. */
const earlyMinutes = 5;
const lateMinutes = 30;

export default rule({
  title: 'Errors or latency of a workload step up with its own rollout and stay there',
  lookAlikes: [
    'a step with no rollout near it',
    'errors that began before the rollout',
    'more requests rather than a worse answer',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const rollout = rolloutBefore(facts, workload, facts.now, 12 * 60);
      if (!rollout?.previous) return [];
      const changes = templateChanges(rollout.previous, rollout.current);
      const traffic = trafficGrowth(facts, workload);
      const worse = symptoms(facts, workload).filter((series) => stepsAt(series, Date.parse(rollout.at) / 1000));
      if (worse.length === 0 || changes.length === 0 || (traffic && traffic.factor > 1.8)) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      const [first] = worse as [Series];
      const [before, after] = levels(first, Date.parse(rollout.at) / 1000);
      return [
        {
          mechanism: 'application-error',
          explains: ['unknown-symptom', 'load', 'throttling'],
          owner,
          boundary: 'application',
          strength: 'derived',
          cause: text(
            `${first.name} of ${nameOf(workload)} went from ${before.toPrecision(2)} to ${after.toPrecision(2)} with its rollout at ${rollout.at} (${changes.slice(0, 2).join('; ')})${traffic ? ' at the same traffic' : ''}.`,
          ),
          root: refOf(workload),
          affects: [
            workload,
            ...facts.podsOf(workload),
            ...facts
              .podsOf(workload)
              .slice(0, 1)
              .flatMap((pod) => facts.servicesOf(pod)),
          ].map(refOf),
          onset: rollout.at,
          evidence: [
            ...worse
              .slice(0, 3)
              .map((series) => evidence.series(series, `stepped up at the rollout, now ${series.points.at(-1)?.[1]}`)),
            evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; ')),
            ...(traffic ? [evidence.series(traffic.series, `requests per second × ${traffic.factor.toFixed(2)}`)] : []),
          ],
          chain: [link(rollout.current, `rolled out at ${rollout.at}`), link(workload, `${first.name} stepped up`)],
          contributing: [],
          nextSteps: [
            text(
              `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}, and see whether ${first.name} falls back`,
            ),
          ],
        },
      ];
    });
  },
});

/** Series of the workload that say how its users fare; counters of failures as rates. */
const symptoms = (facts: ClusterFacts, workload: KubeObject): Series[] =>
  facts
    .seriesLike(/^(?!container_|kube_|node_|apiserver_|etcd_|coredns_|karpenter_|awscni_|go_|process_)/)
    .filter((series) =>
      [
        series.labels.namespace,
        series.labels.destination_workload_namespace,
        series.labels.destination_service_namespace,
      ].includes(workload.metadata.namespace),
    )
    .filter((series) => isOwn(series, workload))
    .filter((series) => feltByUsers.test(series.name) || /^5/.test(series.labels.code ?? series.labels.status ?? ''))
    .map((series) => (/_total$/.test(series.name) ? rateCurve(series) : series));

const isOwn = ({ labels }: Series, workload: KubeObject): boolean => {
  const named = [
    labels.service,
    labels.deployment,
    labels.app,
    labels.destination_workload,
    labels.destination_service_name,
    labels.workload,
  ].filter(Boolean);
  return named.length === 0 || named.includes(workload.metadata.name);
};

const levels = (series: Series, at: number): [number, number] => {
  const before = series.points.filter(([when]) => when < at - earlyMinutes * 60).map(([, value]) => value);
  const after = series.points.filter(([when]) => when > at + lateMinutes * 60).map(([, value]) => value);
  const late = after.length > 1 ? after : series.points.slice(-2).map(([, value]) => value);
  return [before.length > 1 ? mean(before) : Number.NaN, mean(late)];
};

const stepsAt = (series: Series, at: number): boolean => {
  const [before, after] = levels(series, at);
  if (Number.isNaN(before) || !(after > step * Math.max(before, floor))) return false;
  const high = (before + after) / 2;
  const rises = series.points.find(([, value]) => value >= high)?.[0];
  return rises !== undefined && rises >= at - earlyMinutes * 60 && rises <= at + lateMinutes * 60;
};
