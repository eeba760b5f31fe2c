import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import { type LogLine, linesLike } from '../logs/log-search.ts';
import type { Scope } from '../scope.ts';

/** A failed lookup in the words of the usual resolvers and languages. */
export const lookupError =
  /no such host|Temporary failure in name resolution|UnknownHostException|EAI_AGAIN|ENOTFOUND|getaddrinfo|server misbehaving|lookup \S+ on \S+:53|lookup [\w.-]+: (i\/o timeout|no such host|operation was canceled|Temporary)|:53: (i\/o timeout|read|connection refused)|SERVFAIL|[Cc]ould not resolve|[Nn]ame or service not known|Name does not resolve|NameResolutionError|dns.*(timeout|timed out)/;

const dnsLabel = /^(kube-dns|coredns|node-local-dns|nodelocaldns)$/;

export const isDnsPod = (pod: KubeObject): boolean =>
  dnsLabel.test(pod.metadata.labels?.['k8s-app'] ?? '') ||
  /^(coredns|kube-dns|node-local-dns|nodelocaldns)/.test(pod.metadata.name);

export const dnsPods = onceFor((facts: ClusterFacts): KubeObject[] =>
  facts.all('Pod').filter((pod) => isDnsPod(pod) && !/autoscaler/.test(pod.metadata.name)),
);

/** Lookups that fail in the logs and events of pods that are not the resolvers themselves. */
export const failedLookups = onceFor((facts: ClusterFacts): { lines: LogLine[]; pods: KubeObject[] } => {
  const lines = linesLike(facts, lookupError, (log) => !/^(coredns|kube-dns|node-local-dns)/.test(log.pod));
  const logged = lines.map(({ log }) => facts.find('Pod', log.pod, log.namespace)).filter((pod) => pod !== undefined);
  const pulled = facts.events
    .filter((event) => event.regarding.kind === 'Pod' && lookupError.test(event.message))
    .map((event) => facts.find('Pod', event.regarding.name, event.regarding.namespace))
    .filter((pod) => pod !== undefined);
  return { lines, pods: [...new Set([...logged, ...pulled])] };
});

const dnsAlert = /dns|name resolution|lookup|resolve/i;

/** Whether the alert speaks of DNS itself. */
export const isDnsAlert = (facts: ClusterFacts): boolean =>
  facts.alerts.some((alert) =>
    dnsAlert.test(
      `${alert.labels.alertname} ${alert.annotations.summary ?? ''} ${alert.annotations.description ?? ''}`,
    ),
  );

/** Whom a resolver's trouble reaches: pods whose lookups fail, the resolvers, and all of a subject that is about DNS. */
export const dnsVictims = (facts: ClusterFacts, scope: Scope): ObjectRef[] => {
  const { pods } = failedLookups(facts);
  const about = isDnsAlert(facts) ? [...scope.workloads, ...scope.pods] : [];
  return [
    ...pods.flatMap((pod) => facts.ownerChain(pod)),
    ...dnsPods(facts).flatMap((pod) => facts.ownerChain(pod)),
    ...about,
  ]
    .map(refOf)
    .concat(isDnsAlert(facts) && scope.workloads.length === 0 ? [{ kind: 'Cluster', name: facts.identity.name }] : []);
};

/** Link-local, x.x.x.2 and the like: addresses at which a vendor's own resolver answers. */
export const isVendorResolver = (address: string): boolean =>
  /^(169\.254\.\d+\.\d+|\d+\.\d+\.\d+\.2|168\.63\.129\.16|100\.100\.2\.13[68])$/.test(address);

/** A resolver's complaint about the server it forwards a name to. */
export interface ForwardFailure extends LogLine {
  /** The name that was asked for. */
  host: string;
  upstream: string;
}

const forwarded =
  /plugin\/errors: \d+ (\S+?)\.? (?:A|AAAA|SRV|PTR|TXT|MX|HTTPS)?: ?(?:read|write|dial) (?:udp|tcp) (?:\S+->)?\[?([\d.]+|[0-9a-f:]+)\]?:53: (?:i\/o timeout|read: connection refused|connect: .*|.*no route to host)/;

export const forwardFailures = (facts: ClusterFacts): ForwardFailure[] =>
  linesLike(facts, forwarded, (log) => /^(coredns|kube-dns|node-local-dns)/.test(log.pod)).map((entry) => {
    const [, host = '', upstream = ''] = forwarded.exec(entry.line)!;
    return { ...entry, host, upstream };
  });
