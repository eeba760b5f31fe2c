import { text } from '../../domain/text.ts';
import { openIssues } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims } from '../../facts/network/dns.ts';
import { isManaged, vendorOf } from '../../facts/provider.ts';
import { firstValue, lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** CoreDNS’ words when its upstream does not answer; link-local and x.x.x.2 addresses are the vendor’s resolvers. */
const upstream =
  /(read|write) (udp|tcp) \S+->((169\.254\.\d+\.\d+|\d+\.\d+\.\d+\.2|168\.63\.129\.16|100\.100\.2\.13[68])):53: i\/o timeout/;

export default rule({
  title: 'The vendor’s resolver does not answer any DNS replica, on any node',
  lookAlikes: ['one replica or node only: its allowance or connection table', 'an upstream of the customer’s own'],
  judge(facts, scope) {
    const lines = lastPerPod(linesLike(facts, upstream));
    const replicas = dnsPods(facts).filter((pod) => lines.some(({ log }) => log.pod === pod.metadata.name));
    const nodes = new Set(replicas.map((pod) => pod.spec?.nodeName));
    const counters = facts.seriesLike(/linklocal_allowance_exceeded|conntrack_allowance_exceeded|node_net_ethtool/);
    const dropped =
      counters.some(
        (series) =>
          /linklocal|conntrack/.test(`${series.name} ${series.labels.type ?? ''}`) &&
          lastValue(series) > firstValue(series),
      ) || facts.events.some((event) => /LinkLocalExceeded|Conntrack/.test(event.reason));
    if (nodes.size < 2 || dropped || !isManaged(facts)) return [];
    const issue = openIssues(facts, /ROUTE53|VPC|EC2/)[0];
    const known = counters.length > 0 || issue !== undefined;
    const owner = known ? 'cloud' : 'undetermined';
    const evidence = cite('cloud', facts);
    return [
      {
        mechanism: 'dns',
        explains: ['application-error', 'dependency', 'image-pull', 'probe', 'unknown-symptom', 'crash', 'network'],
        owner,
        boundary: 'dns',
        strength: issue ? 'direct' : known ? 'derived' : 'circumstantial',
        cause: text(
          `${vendorOf(facts)}'s resolver (${upstream.exec(lines[0]!.line)?.[3]}) does not answer ${replicas.length} DNS replicas on ${nodes.size} nodes${issue ? `; the vendor has an open event (${issue.code})` : known ? ', none of which exceeds its allowance' : '; whether their interfaces exceed the link-local allowance was not measured'}.`,
        ),
        root: { kind: 'Resolver', name: upstream.exec(lines[0]!.line)?.[3] ?? '' },
        affects: dnsVictims(facts, scope),
        onset: earliest(issue?.startedAt, ...lines.map(({ line }) => timeOf(line, facts.now))),
        evidence: [
          ...lines.slice(0, 3).map((entry) => evidence.log(entry.log, entry.line)),
          ...(issue
            ? [evidence.aws('health.describeEvents', 'events', issue.code, issue.description, issue.startedAt)]
            : []),
          ...counters.slice(0, 1).map((series) => evidence.series(series, `still at ${lastValue(series)}`)),
        ],
        chain: replicas.slice(0, 2).map((pod) => link(pod, 'upstream times out')),
        nextSteps: [
          text(
            `Ask the resolver from a node without CoreDNS: kubectl debug node/<node> -it --image=busybox -- nslookup example.com <resolver>; open a case with ${vendorOf(facts)}.`,
          ),
        ],
        missing: known
          ? []
          : [
              {
                layer: 'platform',
                missing: 'interface allowance counters (node_net_ethtool linklocal_allowance_exceeded)',
                fix: 'run node-exporter with --collector.ethtool',
              },
            ],
      },
    ];
  },
});
