import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { lastWrite } from '../../facts/capacity/pools.ts';
import { groupBy, link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { lastPerPod, timeOf } from '../../facts/logs/log-search.ts';
import { dnsPods, dnsVictims, forwardFailures, isVendorResolver } from '../../facts/network/dns.ts';
import { isManaged } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const configurations = ['coredns-custom', 'coredns', 'node-local-dns', 'kube-dns'];
/** A change that long before the trouble has been lived with. */
const freshMinutes = 24 * 60;

export default rule({
  title: 'Cluster DNS forwards some names to a server of the organisation that does not answer',
  lookAlikes: [
    'the vendor’s resolver does not answer: the vendor, or an interface’s allowance',
    'the name does not exist: an answer, not a timeout',
    'lookups that never reach cluster DNS: a policy or the node',
  ],
  judge(facts, scope) {
    const own = forwardFailures(facts).filter((entry) => !isManaged(facts) || !isVendorResolver(entry.upstream));
    return groupBy(own, (entry) => zoneFor(facts, entry.upstream)?.metadata.name ?? entry.upstream)
      .filter((group) => group.length >= 2)
      .map((group) => {
        const upstreams = [...new Set(group.map((entry) => entry.upstream))].sort();
        const configuration = zoneFor(facts, upstreams[0]!);
        const write = configuration && lastWrite(configuration);
        const changed = write && minutesBetween(write.time, facts.now) < freshMinutes ? write : undefined;
        const zone = zoneOf(configuration, upstreams[0]!) ?? commonSuffix(group.map((entry) => entry.host));
        const evidence = cite('platform', facts);
        return {
          mechanism: 'dns' as const,
          explains: [
            'application-error' as const,
            'dependency' as const,
            'probe' as const,
            'crash' as const,
            'image-pull' as const,
            'unknown-symptom' as const,
            'network' as const,
            'rollout' as const,
            'job' as const,
          ],
          owner: 'platform' as const,
          boundary: 'dns' as const,
          strength: configuration && changed ? ('direct' as const) : ('derived' as const),
          cause: text(
            `Cluster DNS forwards ${zone || 'names'} to ${upstreams.join(' and ')}, which do not answer${changed ? `, since ${changed.manager} changed ConfigMap ${configuration!.metadata.name} at ${changed.time}` : ''}.`,
          ),
          root: configuration ? refOf(configuration) : { kind: 'Resolver', name: upstreams[0]! },
          affects: dnsVictims(facts, scope),
          onset: earliest(changed?.time, ...group.map(({ line }) => timeOf(line, facts.now))),
          evidence: [
            ...lastPerPod(group)
              .slice(0, 3)
              .map((entry) => evidence.log(entry.log, entry.line)),
            ...(configuration
              ? [
                  evidence.field(
                    configuration,
                    'data',
                    configuration.data,
                    changed ? `written by ${changed.manager}` : '',
                  ),
                ]
              : []),
          ],
          chain: [
            ...(configuration ? [link(configuration, `forwards ${zone} to ${upstreams.join(', ')}`)] : []),
            ...dnsPods(facts)
              .slice(0, 2)
              .map((pod) => link(pod, 'gets no answer from there')),
          ],
          nextSteps: [
            text(
              `Ask the servers themselves: kubectl debug node/<node> -it --image=busybox -- nslookup ${group[0]!.host} ${upstreams[0]}`,
            ),
            text(
              changed
                ? `Take the change of ${configuration!.metadata.name} back: kubectl -n kube-system get configmap ${configuration!.metadata.name} -o yaml`
                : 'Check the servers, and the route and firewall from the pod network to their port 53 (UDP and TCP).',
            ),
          ],
        };
      });
  },
});

/** The ConfigMap of cluster DNS that names this server. */
const zoneFor = (facts: ClusterFacts, upstream: string): KubeObject | undefined =>
  configurations
    .map((name) => facts.find('ConfigMap', name, 'kube-system'))
    .find((configuration) => configuration && JSON.stringify(configuration.data ?? {}).includes(upstream));

/** The zone of the server block that forwards to it; undefined for the root zone. */
const zoneOf = (configuration: KubeObject | undefined, upstream: string): string | undefined => {
  for (const value of Object.values<string>(configuration?.data ?? {}))
    for (const [block, zone] of value.matchAll(/(?<![\w.-])([\w.-]+?)(?::\d+)?\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g))
      if (block.includes(upstream) && zone && zone !== '.') return zone;
  return undefined;
};

const commonSuffix = (hosts: string[]): string => {
  const parts = hosts.map((host) => host.split('.').reverse());
  const shared: string[] = [];
  for (const [index, label] of (parts[0] ?? []).entries()) {
    if (!parts.every((other) => other[index] === label)) break;
    shared.unshift(label);
  }
  return shared.join('.');
};
