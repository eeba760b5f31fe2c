import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type LogLine, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims, failedLookups } from '../../facts/network/dns.ts';
import { names } from '../../facts/nodes/node-group.ts';
import { softwareOf } from '../../facts/nodes/nodes.ts';
import { isManaged, vendorOf } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A node without nameservers: what systemd-resolved writes, and what CoreDNS says when it then forwards to itself. */
const empty = /No DNS servers known|resolv\.conf.*(empty|no nameserver)|no nameservers? found/i;
const loop = /plugin\/loop: Loop .*detected/;
const resolverEvent = /CheckLimitsForResolvConf|MissingClusterDNS/;
/** Annotations by which vendors mark the patch level of a running node. */
const patchKey = /live-patching.*(current|timestamp)|node-image-version|patch|security|image-version/i;
const patchLabel = /node-image-version|gke-os-distribution-version|release-version|patch/i;

export default rule({
  title: 'Nodes have lost their DNS servers after an update of their operating system; CoreDNS forwards to itself',
  lookAlikes: [
    'one Corefile that forwards to itself on all nodes: the configuration',
    'healthy nodes carry the same patch level: not the patch',
  ],
  judge(facts, scope) {
    const bare = linesLike(facts, empty);
    const looping = linesLike(facts, loop);
    const bad = nodesOf(facts, [...bare, ...looping]);
    if (bad.length === 0) return [];
    const said = new Set(
      nodesOf(facts, linesLike(facts, /resolv ok|nameserver \d|servers=\d/)).filter((node) => !bad.includes(node)),
    );
    const shared = sharedMark(facts, bad, said);
    const vendor = isManaged(facts) && shared !== undefined;
    const owner = vendor ? 'cloud' : 'platform';
    const evidence = cite(owner, facts);
    const carriers = shared ? facts.all('Node').filter((node) => markOf(node, shared.key) === shared.value) : bad;
    const rest = facts.all('Node').filter((node) => !carriers.includes(node));
    const resolvers = dnsPods(facts).filter((pod) => looping.some(({ log }) => log.pod === pod.metadata.name));
    const corefile = facts.find('ConfigMap', 'coredns', 'kube-system');
    return [
      {
        mechanism: 'dns',
        explains: [
          'crash',
          'image-pull',
          'application-error',
          'dependency',
          'probe',
          'unknown-symptom',
          'network',
          'rollout',
          'node-image',
        ],
        owner,
        boundary: 'dns',
        strength: vendor && bare.length > 0 ? 'direct' : 'derived',
        cause: text(
          vendor
            ? `${vendorOf(facts)}'s update of the node system (${shared.key}=${shared.value} on ${carriers.length} nodes) took their DNS servers away${looping.length > 0 ? '; CoreDNS there forwards to itself and ends' : ''}, while the ${rest.length} nodes without it resolve.`
            : `${names(bad)} ${bare.length > 0 ? 'has no DNS servers' : 'resolves through itself'}, so CoreDNS${looping.length > 0 ? ' forwards to itself and ends' : ' cannot forward'}: resolv.conf of the node or forward in the Corefile is wrong.`,
        ),
        root: refOf(bad[0]!),
        affects: [
          ...dnsVictims(facts, scope),
          ...carriers.map(refOf),
          ...carriers
            .flatMap((node) => facts.podsOn(node.metadata.name))
            .filter((pod) => failedLookups(facts).pods.includes(pod))
            .map(refOf),
        ],
        onset: earliest(...bare.map(({ line }) => timeOf(line, facts.now))),
        evidence: [
          ...firstOfEach(bare).map((entry) => evidence.log(entry.log, entry.line)),
          ...firstOfEach(looping)
            .slice(0, 1)
            .map((entry) => evidence.log(entry.log, entry.line)),
          ...(shared
            ? carriers.slice(0, 2).map((node) => evidence.field(node, shared.where, shared.value, shared.key))
            : []),
          ...(shared && rest[0]
            ? [
                evidence.field(
                  rest[0],
                  shared.where,
                  markOf(rest[0], shared.key) ?? 'absent',
                  `${shared.key}: a node that resolves`,
                ),
              ]
            : []),
          ...resolvers.slice(0, 1).map((pod) => evidence.condition(pod, 'Ready')),
          ...facts.events
            .filter((event) => resolverEvent.test(event.reason))
            .slice(-1)
            .map((event) => evidence.event(event)),
          ...(corefile
            ? [
                evidence.field(
                  corefile,
                  'metadata.creationTimestamp',
                  corefile.metadata.managedFields?.at(-1)?.time ?? corefile.metadata.creationTimestamp,
                  'last change of the CoreDNS configuration',
                ),
              ]
            : []),
        ],
        chain: [
          link(bad[0]!, 'no DNS servers'),
          ...resolvers.slice(0, 1).map((pod) => link(pod, 'forwards to itself')),
        ],
        contributing: vendor
          ? [
              {
                owner: 'platform',
                action: text(
                  'Until it is repaired: forward CoreDNS to the provider’s resolver by address, or move DNS to nodes without the update; hold the update channel.',
                ),
              },
            ]
          : [],
        nextSteps: [
          text(
            vendor
              ? `Open a case with ${vendorOf(facts)}: ${shared.key}=${shared.value} leaves nodes without DNS servers.`
              : `On ${bad[0]!.metadata.name}: resolvectl status; cat /run/systemd/resolve/resolv.conf`,
          ),
          text(
            'Mitigate: in the Corefile forward . to the VPC resolver’s address instead of /etc/resolv.conf, then kubectl -n kube-system rollout restart deployment coredns',
          ),
        ],
      },
    ];
  },
});

const nodesOf = (facts: ClusterFacts, lines: LogLine[]): KubeObject[] => [
  ...new Set(
    lines
      .map(({ log }) =>
        facts.nodeOf(facts.find('Pod', log.pod, log.namespace) ?? { kind: 'Pod', metadata: { name: '' } }),
      )
      .filter((node) => node !== undefined),
  ),
];

const firstOfEach = (lines: LogLine[]): LogLine[] =>
  [...new Map(lines.map((entry) => [entry.log.pod, entry])).values()].slice(0, 2);

const markOf = (node: KubeObject, key: string): string | undefined =>
  key === 'osImage'
    ? softwareOf(node).os
    : key === 'kernelVersion'
      ? softwareOf(node).kernel
      : (node.metadata.annotations?.[key] ?? node.metadata.labels?.[key]);

/** A patch level that every bad node has and no node that resolves has: the update is what they share. */
const sharedMark = (
  facts: ClusterFacts,
  bad: KubeObject[],
  good: Set<KubeObject>,
): { key: string; value: string; where: string } | undefined => {
  const [first] = bad;
  if (!first) return undefined;
  const keys = [
    ...Object.keys(first.metadata.annotations ?? {})
      .filter((key) => patchKey.test(key) && !/status$/.test(key))
      .map((key) => ({ key, where: 'metadata.annotations' })),
    ...Object.keys(first.metadata.labels ?? {})
      .filter((key) => patchLabel.test(key))
      .map((key) => ({ key, where: 'metadata.labels' })),
    { key: 'osImage', where: 'status.nodeInfo.osImage' },
    { key: 'kernelVersion', where: 'status.nodeInfo.kernelVersion' },
  ];
  const others = facts.all('Node').filter((node) => !bad.includes(node));
  return keys
    .map(({ key, where }) => ({ key, where, value: markOf(first, key) }))
    .filter((mark): mark is { key: string; where: string; value: string } => Boolean(mark.value))
    .find(
      (mark) =>
        bad.every((node) => markOf(node, mark.key) === mark.value) &&
        others.some((node) => markOf(node, mark.key) !== mark.value) &&
        [...good].every((node) => markOf(node, mark.key) !== mark.value),
    );
};
