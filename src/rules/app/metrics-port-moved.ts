import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containersOf, isReady } from '../../facts/pods.ts';
import { lastValue } from '../../facts/series.ts';
import { rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const targetAlert = /^(TargetDown|.*(Scrape|Target|Metrics|Exporter).*(Down|Missing|Failed|Absent|Unreachable).*)$/i;
const scrapeFailed = /Scrape failed/;

export default rule({
  title: 'Prometheus cannot scrape pods that serve: their release moved or closed the metrics endpoint',
  lookAlikes: [
    'the pods are not ready: they are the trouble',
    'targets of many jobs are down: Prometheus, its rights or the network',
  ],
  judge(facts, scope) {
    if (facts.alerts.length === 0 || !facts.alerts.every((alert) => targetAlert.test(alert.labels.alertname ?? '')))
      return [];
    return scope.workloads.flatMap((workload): FindingDraft[] => {
      const pods = facts.podsOf(workload);
      if (pods.length === 0 || !pods.every(isReady)) return [];
      const down = facts
        .series('up', { namespace: workload.metadata.namespace ?? '' })
        .filter((series) => isOwn(series, workload) && lastValue(series) === 0);
      const since = down[0] && fell(down[0]);
      const rollout = since ? rolloutBefore(facts, workload, since, 45) : undefined;
      const changes = rollout?.previous ? templateChanges(rollout.previous, rollout.current) : [];
      const unserved = closedPorts(facts, pods[0]!);
      const addresses = pods.map((pod) => pod.status?.podIP as string).filter(Boolean);
      const lines = linesLike(facts, scrapeFailed).filter(({ line }) =>
        addresses.some((address) => line.includes(address)),
      );
      if (!rollout?.previous && !(unserved.length > 0 && (down.length > 0 || lines.length > 0))) return [];
      if (otherJobsDown(facts, down)) return [];
      const owner = ownershipOf(facts, workload);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'application-error',
          explains: ['unknown-symptom', 'heartbeat'],
          owner,
          boundary: 'config',
          strength: unserved.length > 0 && (rollout || lines.length > 0) ? 'direct' : 'derived',
          cause: text(
            `All ${pods.length} pods of ${nameOf(workload)} are ready and cannot be scraped${unserved[0] ? `: Service ${unserved[0].service.metadata.name} points port ${unserved[0].name} at ${unserved[0].target}, which no container serves` : ''}${rollout ? `, since the rollout at ${rollout.at} (${changes.slice(0, 3).join('; ')})` : ''}.`,
          ),
          root: refOf(workload),
          affects: [workload, ...pods, ...facts.servicesOf(pods[0]!)].map(refOf),
          onset: rollout?.at ?? since,
          evidence: [
            ...down.slice(0, 1).map((series) => evidence.series(series, `0 since ${since ?? 'some time'}`)),
            ...unserved.slice(0, 1).map((entry) => evidence.field(entry.service, 'spec.ports')),
            ...(rollout
              ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; '))]
              : []),
            ...lines.slice(-1).map((entry) => evidence.log(entry.log, entry.line)),
            evidence.condition(pods[0]!, 'Ready'),
          ],
          chain: [
            link(workload, changes[0] ?? 'serves no metrics there'),
            ...pods.slice(0, 1).map((pod) => link(pod, 'ready, not scraped')),
          ],
          contributing: [],
          nextSteps: [
            text(
              `Make Service and ServiceMonitor ask where the release serves its metrics: kubectl -n ${workload.metadata.namespace} get service,servicemonitor -o yaml`,
            ),
          ],
        },
      ];
    });
  },
});

const isOwn = ({ labels }: Series, workload: KubeObject): boolean =>
  [labels.job, labels.service, labels.deployment, labels.app].some((name) => name === workload.metadata.name) ||
  (labels.pod ?? '').startsWith(`${workload.metadata.name}-`);

const fell = (series: Series): string | undefined => {
  const last = series.points.findLast(([, value]) => value > 0);
  return last && new Date(last[0] * 1000).toISOString();
};

/** Ports of the pod's Services whose target none of its containers declares, where they declare any. */
const closedPorts = (facts: ClusterFacts, pod: KubeObject) => {
  const declared: any[] = containersOf(pod).flatMap((container) => container.ports ?? []);
  return facts
    .servicesOf(pod)
    .flatMap((service) =>
      ((service.spec?.ports ?? []) as any[])
        .map((port) => ({ service, name: port.name ?? String(port.port), target: port.targetPort ?? port.port }))
        .filter(
          ({ target }) =>
            declared.length > 0 && !declared.some((port) => port.containerPort === target || port.name === target),
        ),
    );
};

/** More than one other job is down as well: it is not this release. */
const otherJobsDown = (facts: ClusterFacts, own: Series[]): boolean =>
  new Set(
    facts
      .series('up')
      .filter((series) => lastValue(series) === 0 && !own.includes(series))
      .map((series) => series.labels.job),
  ).size > 1;
