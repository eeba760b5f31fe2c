import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { trafficGrowth } from '../../facts/capacity/growth.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { mean, rateCurve } from '../../facts/series.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rolloutBefore, servedBy } from '../../facts/workloads/workloads.ts';
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
      const [first] = worse as [Series];
      // Calls that time out may be the caller's new limit, or the network that was renewed in the same minutes.
      const network = /timeout|reset|connect/i.test(first.name)
        ? networkRenewed(facts, workload, rollout.at)
        : undefined;
      const owner = network ? 'undetermined' : ownershipOf(facts, workload);
      const evidence = cite(network ? 'app' : ownershipOf(facts, workload), facts);
      const [before, after] = levels(first, Date.parse(rollout.at) / 1000);
      return [
        {
          mechanism: 'application-error',
          explains: ['unknown-symptom', 'load', 'throttling'],
          owner,
          boundary: network ? null : 'application',
          strength: network ? 'circumstantial' : 'derived',
          cause: text(
            `${first.name} of ${nameOf(workload)} went from ${before.toPrecision(2)} to ${after.toPrecision(2)} with its rollout at ${rollout.at} (${changes.slice(0, 2).join('; ')})${traffic ? ' at the same traffic' : ''}${network ? `; in the same minutes ${nameOf(network.set)} was renewed on ${network.pods.length} nodes, and either explains it` : ''}.`,
          ),
          root: refOf(workload),
          affects: [...servedBy(facts, workload)].map(refOf),
          onset: rollout.at,
          evidence: [
            ...worse
              .slice(0, 3)
              .map((series) => evidence.series(series, `stepped up at the rollout, now ${series.points.at(-1)?.[1]}`)),
            evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at, changes.join('; ')),
            ...(network
              ? [
                  evidence.field(network.pods[0]!, 'metadata.creationTimestamp'),
                  ...grep(facts, facts.podsOf(workload), /time[d]? ?out|reset by peer/i)
                    .slice(-2)
                    .map((line) => evidence.log(line.log, line.text)),
                ]
              : []),
            ...(traffic ? [evidence.series(traffic.series, `requests per second × ${traffic.factor.toFixed(2)}`)] : []),
          ],
          chain: [link(rollout.current, `rolled out at ${rollout.at}`), link(workload, `${first.name} stepped up`)],
          contributing: [],
          nextSteps: [
            text(
              `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}, and see whether ${first.name} falls back`,
            ),
          ],
          missing: network
            ? [
                {
                  layer: 'platform',
                  missing: `dropped packets per node and the figures of other callers since ${rollout.at}`,
                  fix: 'compare the same ratio of clients in other namespaces, and node_network_*_drop_total per node',
                },
              ]
            : [],
        },
      ];
    });
  },
});

const networkAgent =
  /^(aws-node|azure-cns|azure-cni|azure-npm|calico-node|cilium|anetd|kube-proxy|kube-flannel|terway|netd|ztunnel|istio-cni|antrea-agent|ovnkube|weave-net|node-local-dns)/;
const sameMinutes = 15;

/** A DaemonSet of the network whose pods were renewed on the nodes around the time of the rollout. */
const networkRenewed = (
  facts: ClusterFacts,
  workload: KubeObject,
  at: string,
): { set: KubeObject; pods: KubeObject[] } | undefined => {
  const nodes = new Set(facts.podsOf(workload).map((pod) => pod.spec?.nodeName));
  return facts
    .all('DaemonSet')
    .filter((set) => networkAgent.test(set.metadata.name))
    .map((set) => ({
      set,
      pods: facts
        .podsOf(set)
        .filter((pod) => nodes.has(pod.spec?.nodeName))
        .filter((pod) => Math.abs(minutesBetween(pod.metadata.creationTimestamp, at)) <= sameMinutes),
    }))
    .find(({ pods }) => pods.length * 2 > nodes.size && pods.length > 0);
};

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
