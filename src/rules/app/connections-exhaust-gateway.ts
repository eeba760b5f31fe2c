import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { growth, lastValue, rateCurve, sum } from '../../facts/series.ts';
import { minutesBetween } from '../../facts/time.ts';
import { rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What a connection that gets no port looks like from inside. */
const unreached =
  /i\/o timeout|connect(ion)? timed out|ETIMEDOUT|TLS handshake timeout|EADDRNOTAVAIL|dial tcp .*timeout|deadline exceeded/i;
/** Gauges of open connections per pod, as exporters and client libraries call them. */
const connections =
  /(open|active|established|outbound|client|pool|tcp)\w*_?(connections|conns|sockets)(?!\w*(max|limit))|conntrack_entries|netstat_Tcp_CurrEstab/i;
const leastGrowth = 3;
/** One workload with this share of what all hold is the one that uses the ports up. */
const leastShare = 0.5;
/** A rollout this long before the first refused port may have brought it. */
const rolloutMinutes = 60;

interface Holder {
  workload: KubeObject;
  course: Series;
  grew: number;
  share: number;
}

export default rule({
  title:
    'One workload uses up the ports of the NAT gateway: its connections or bytes multiplied as port allocation began to fail',
  lookAlikes: [
    'growth spread over many workloads: the gateway is too small',
    'the gateway or its route is gone: nobody’s traffic',
    'connections inside the cluster, which no gateway sees',
  ],
  judge(facts, scope) {
    const refused = facts
      .cloudWatch('AWS/NATGateway', 'ErrorPortAllocation')
      .find((series) => series.points.slice(-5).some(([, value]) => value > 0));
    if (!refused) return [];
    const holder = holderOf(facts);
    if (!holder) return [];
    const { workload, course, grew, share } = holder;
    const lines = linesLike(facts, unreached);
    const victims = scope.pods.filter(
      (pod) =>
        lines.some(({ log }) => log.pod === pod.metadata.name && log.namespace === pod.metadata.namespace) ||
        facts.eventsAbout(pod).some((event) => unreached.test(event.message)),
    );
    const since = refused.points.find(([, value]) => value > 0)![0];
    const rollout = rolloutOf(facts, workload);
    const before = rollout ? minutesBetween(rollout.at, since) : Number.NaN;
    const fresh = rollout?.previous && before >= -5 && before <= rolloutMinutes ? rollout : undefined;
    const owner = ownershipOf(facts, workload);
    const evidence = cite(owner, facts);
    const gateway = refused.dimensions.NatGatewayId ?? 'NAT gateway';
    const finding: FindingDraft = {
      mechanism: 'traffic',
      explains: [
        'network',
        'image-pull',
        'dependency',
        'application-error',
        'launch-failed',
        'identity',
        'dns',
        'probe',
        'crash',
        'unknown-symptom',
      ],
      owner,
      boundary: 'traffic',
      strength: 'derived',
      cause: text(
        `${nameOf(workload)} uses up the ports of ${gateway}: its ${course.name} grew ${grew.toFixed(1)}-fold to ${Math.round(share * 100)}% of all${fresh ? `, since its rollout at ${fresh.at}` : ''}, and port allocation fails since ${since}.`,
      ),
      root: refOf(workload),
      affects: [...victims.flatMap((pod) => facts.ownerChain(pod)), workload, ...facts.podsOf(workload)].map(refOf),
      onset: fresh?.at ?? since,
      evidence: [
        evidence.cloudWatch(refused, `${refused.points.at(-1)?.[1]} failed allocations`),
        evidence.series(course, `grew ${grew.toFixed(1)}-fold to ${lastValue(course).toPrecision(4)}`),
        ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp')] : []),
        ...lines.slice(-1).map(({ log, line }) => evidence.log(log, line)),
      ],
      chain: [
        link(workload, `${course.name} grew ${grew.toFixed(1)}-fold`),
        { object: `NAT gateway ${gateway}`, claim: 'has no ports left for that destination' },
      ],
      contributing: [
        {
          owner: 'platform',
          action: text(`Add addresses to ${gateway} or a gateway per zone: each gives 55,000 ports per destination.`),
        },
      ],
      nextSteps: [
        text(
          `Keep connections open and reuse them (pooling, keep-alive) in ${nameOf(workload)}${fresh ? `, or undo its rollout: kubectl -n ${workload.metadata.namespace} rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name}` : ''}.`,
        ),
      ],
    };
    return [finding];
  },
});

const holderOf = (facts: ClusterFacts): Holder | undefined => {
  const gauges = facts.seriesLike(connections).filter((series) => series.labels.pod);
  const bytes = facts.series('container_network_transmit_bytes_total').filter((series) => series.labels.pod);
  return largest(facts, gauges) ?? largest(facts, bytes.map(rateCurve));
};

const largest = (facts: ClusterFacts, list: Series[]): Holder | undefined => {
  const of = new Map<string, { workload: KubeObject; list: Series[] }>();
  for (const series of list) {
    const pod = facts.find('Pod', series.labels.pod, series.labels.namespace);
    if (!pod) continue;
    const workload = facts.workloadOf(pod);
    const entry = of.get(nameOf(workload)) ?? { workload, list: [] };
    entry.list.push(series);
    of.set(nameOf(workload), entry);
  }
  const all = [...of.values()].map(({ workload, list: own }) => ({
    workload,
    course: { ...sum(own), name: own[0]!.name, labels: { namespace: workload.metadata.namespace ?? '' } },
  }));
  const total = all.reduce((added, { course }) => added + (lastValue(course) || 0), 0);
  return all
    .map((entry) => ({ ...entry, grew: growth(entry.course), share: lastValue(entry.course) / total }))
    .find(({ grew, share }) => grew >= leastGrowth && share >= leastShare && all.length > 1);
};
