import type { Series } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { firstValue, lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** What EC2 drops above an instance type's allowance; link-local has its own rule, since DNS is its victim. */
const counters: Record<string, string> = {
  conntrack_allowance_exceeded: 'connections',
  pps_allowance_exceeded: 'packets per second',
  bw_in_allowance_exceeded: 'inbound bandwidth',
  bw_out_allowance_exceeded: 'outbound bandwidth',
};
const reasons = /^(ConntrackExceeded(Kernel)?|PPSExceeded|BandwidthInExceeded|BandwidthOutExceeded)$/;
const kernelTable = /nf_conntrack: table full/;
const symptom = /timeout|latency|reset|connect|slow|error|drop|conntrack|network|probe|unreachable/i;

export default rule({
  title: 'A node drops traffic above its instance type’s allowance or its connection table is full',
  lookAlikes: ['the link-local allowance: DNS', 'a counter that stood still during the incident'],
  judge(facts, scope) {
    const alert = facts.alerts.some((entry) =>
      symptom.test(`${entry.labels.alertname} ${entry.annotations.description ?? ''}`),
    );
    const nodes = [...new Set([...scope.nodes, ...scope.subjectNodes])];
    return nodes.flatMap((node) => {
      const series = Object.keys(counters).flatMap((type) =>
        [...facts.series('node_net_ethtool', { type }), ...facts.seriesLike(new RegExp(type))].filter(
          (entry) => belongs(entry, node) && lastValue(entry) > firstValue(entry),
        ),
      );
      const table = facts.series('node_nf_conntrack_entries').find((entry) => belongs(entry, node));
      const limit = facts.series('node_nf_conntrack_entries_limit').find((entry) => belongs(entry, node));
      const full = table && limit && lastValue(table) > 0.95 * lastValue(limit);
      const events = facts
        .eventsAbout(node)
        .filter((event) => reasons.test(event.reason) || kernelTable.test(event.message));
      if (!alert || (series.length === 0 && events.length === 0 && !full)) return [];
      const what = series[0]
        ? counters[
            Object.keys(counters).find((type) => series[0]!.labels.type === type || series[0]!.name.includes(type))!
          ]
        : full
          ? 'connections'
          : events[0]!.reason;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'network' as const,
          explains: [
            'application-error' as const,
            'dependency' as const,
            'probe' as const,
            'dns' as const,
            'unknown-symptom' as const,
            'load' as const,
          ],
          owner: 'platform' as const,
          boundary: 'network' as const,
          strength: 'derived' as const,
          cause: text(
            `Node ${node.metadata.name} (${node.metadata.labels?.['node.kubernetes.io/instance-type'] ?? 'its type'}) exceeds its allowance of ${what}${series[0] ? ` (${series[0].labels.type ?? series[0].name} rose to ${lastValue(series[0])})` : ''}; the excess is dropped.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: earliest(...events.map((event) => event.firstAt)),
          evidence: [
            ...series
              .slice(0, 2)
              .map((entry) => evidence.series(entry, `${firstValue(entry)} then ${lastValue(entry)}`)),
            ...(full ? [evidence.series(table, `${lastValue(table)} of ${lastValue(limit)}`)] : []),
            ...events.slice(-2).map((event) => evidence.event(event)),
            evidence.label(node, 'node.kubernetes.io/instance-type'),
          ],
          chain: [link(node, `drops ${what}`)],
          contributing: [
            {
              owner: 'app' as const,
              action: text('Keep connections open and pooled; find what opens so many on this node.'),
            },
          ],
          nextSteps: [
            text(
              `Spread the busiest pods of ${node.metadata.name} or use a larger or network-optimised type: kubectl get pods -A --field-selector spec.nodeName=${node.metadata.name}`,
            ),
          ],
        },
      ];
    });
  },
});

const belongs = (series: Series, node: KubeObject): boolean => {
  const addresses: string[] = (node.status?.addresses ?? []).map((entry: any) => entry.address);
  return Object.values(series.labels).some(
    (value) =>
      value === node.metadata.name || addresses.some((address) => value === address || value.startsWith(`${address}:`)),
  );
};
