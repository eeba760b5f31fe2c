import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims, failedLookups, lookupError } from '../../facts/network/dns.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { firstValue, lastValue, risesAt } from '../../facts/series.ts';
import { rule } from '../../triage/rule.ts';

const upstream = /(read|write) udp .*:53: (i\/o timeout|connection refused)|plugin\/errors: 2 .*timeout/;

export default rule({
  title: 'A DNS replica sends more packets to the VPC resolver than its interface may (link-local allowance)',
  lookAlikes: [
    'all replicas on all nodes are slow: the resolver itself',
    'NXDOMAIN of one name: that name',
    'a fresh release of the service that complains',
  ],
  judge(facts, scope) {
    const counters = allowances(facts);
    const alone = lonelyNode(facts);
    const over = facts.all('Node').flatMap((node) => {
      const series = counters.find((entry) => belongs(entry, node) && lastValue(entry) > firstValue(entry));
      const events = facts.eventsAbout(node).filter((event) => /LinkLocalExceeded/.test(event.reason));
      return series || events.length > 0 || alone === node.metadata.name ? [{ node, series, events }] : [];
    });
    const replicas = dnsPods(facts).filter((pod) => over.some(({ node }) => node.metadata.name === pod.spec?.nodeName));
    const [replica] = replicas;
    if (!replica) return [];
    const { node, series, events } = over.find((entry) => entry.node.metadata.name === replica.spec?.nodeName)!;
    const lines = lastPerPod(linesLike(facts, upstream, (log) => log.pod === replica.metadata.name));
    const slow = facts
      .seriesLike(/^coredns_(forward|dns)_request/)
      .filter((entry) => entry.labels.pod === replica.metadata.name);
    const evidence = cite('platform', facts);
    const victims = failedLookups(facts);
    const apps = victims.pods.filter((pod) => ownershipOf(facts, pod) === 'app');
    return [
      {
        mechanism: 'dns',
        explains: ['application-error', 'dependency', 'unknown-symptom', 'probe', 'image-pull', 'network', 'load'],
        owner: 'platform',
        boundary: 'dns',
        strength: series || events.length > 0 ? 'direct' : 'derived',
        cause: text(
          !series && events.length === 0
            ? `DNS replica ${replica.metadata.name} on node ${node.metadata.name} alone cannot reach the VPC resolver, while other replicas can: its interface's allowance or connection table is the likely limit, and was not measured.`
            : `DNS replica ${replica.metadata.name} sends more queries than the interface of node ${node.metadata.name} may send to the VPC resolver${series ? ` (linklocal_allowance_exceeded rose from ${firstValue(series)} to ${lastValue(series)})` : ''}; the excess is dropped, so a share of all lookups fails.`,
        ),
        root: refOf(replica),
        affects: dnsVictims(facts, scope),
        onset: series ? onsetOf(series) : events[0]?.firstAt,
        evidence: [
          ...(series ? [evidence.series(series, `rises to ${lastValue(series)}`)] : []),
          ...events.slice(-1).map((event) => evidence.event(event)),
          ...lines.map((entry) => evidence.log(entry.log, entry.line)),
          ...slow.slice(0, 2).map((entry) => evidence.series(entry, `${firstValue(entry)} then ${lastValue(entry)}`)),
          ...others(facts, replica).map((entry) =>
            evidence.series(entry, `${lastValue(entry)}: another replica is well`),
          ),
          ...lastPerPod(victims.lines.filter(({ line }) => lookupError.test(line)))
            .slice(0, 1)
            .map((entry) => evidence.log(entry.log, entry.line)),
        ],
        chain: [
          link(node, 'drops DNS packets'),
          link(replica, 'cannot reach the resolver'),
          ...apps.slice(0, 1).map((pod) => link(pod, 'lookups fail')),
        ],
        contributing: [
          {
            owner: 'app',
            action: text(
              'Ask less: fully qualified names (ending in a dot) or a lower ndots, connection pools, a cache in the client.',
            ),
          },
        ],
        nextSteps: [
          text('Spread and cache: more CoreDNS replicas with topology spread, NodeLocal DNSCache, a longer cache TTL.'),
          text(
            `See it live: kubectl debug node/${node.metadata.name} -it --image=busybox -- chroot /host ethtool -S eth0 | grep linklocal`,
          ),
        ],
      },
    ];
  },
});

/** Without counters: the node whose replica alone cannot reach the resolver, while others that were read can. */
const lonelyNode = (facts: ClusterFacts): string | undefined => {
  if (facts.seriesLike(/node_net_ethtool|linklocal_allowance/).length > 0) return undefined;
  const read = dnsPods(facts).filter((pod) => facts.logsOf(pod).length > 0);
  const failing = read.filter((pod) => linesLike(facts, upstream, (log) => log.pod === pod.metadata.name).length > 0);
  return failing.length === 1 && read.length > 1 ? failing[0]!.spec?.nodeName : undefined;
};

const allowances = (facts: ClusterFacts): Series[] => [
  ...facts.series('node_net_ethtool', { type: 'linklocal_allowance_exceeded' }),
  ...facts.seriesLike(/linklocal_allowance_exceeded/),
];

const belongs = (series: Series, node: KubeObject): boolean => {
  const addresses: string[] = (node.status?.addresses ?? []).map((entry: any) => entry.address);
  return Object.values(series.labels).some(
    (value) =>
      value === node.metadata.name || addresses.some((address) => value === address || value.startsWith(`${address}:`)),
  );
};

const onsetOf = (series: Series): string | undefined => {
  const at = risesAt(series, 1.5);
  return at === undefined ? undefined : new Date(at * 1000).toISOString();
};

const others = (facts: ClusterFacts, replica: KubeObject): Series[] =>
  facts
    .seriesLike(/^coredns_forward_request_duration/)
    .filter((series) => series.labels.pod !== undefined && series.labels.pod !== replica.metadata.name)
    .slice(0, 1);
