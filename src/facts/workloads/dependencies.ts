import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { type PodLogLine, podLogLines } from '../logs/pod-logs.ts';
import { selects } from '../selectors.ts';

type PeerFault = 'unknown-name' | 'refused' | 'no-answer' | 'credentials' | 'exhausted';

/** A program's complaint about something it calls. */
export interface PeerComplaint {
  pod: KubeObject;
  line: PodLogLine;
  fault: PeerFault;
  /** Host or address as the line names it; undefined where it names none. */
  host?: string;
  port?: string;
}

const name = String.raw`([\w-]+(?:\.[\w-]+)*)`;
const patterns: [PeerFault, RegExp][] = [
  ['unknown-name', new RegExp(`lookup ${name}\\.?(?: on [\\d.:]+)?: no such host`)],
  ['unknown-name', new RegExp(`getaddrinfo ENOTFOUND ${name}`)],
  ['unknown-name', new RegExp(`UnknownHostException:? ${name}`)],
  [
    'unknown-name',
    new RegExp(
      `(?:could not translate host name|Could not resolve host:?|cannot resolve|Name or service not known:?) ["']?${name}`,
      'i',
    ),
  ],
  ['unknown-name', /no such host|NXDOMAIN|Name or service not known|nodename nor servname/],
  [
    'refused',
    new RegExp(
      `(?:dial tcp|ECONNREFUSED|connect(?:ing)? to|connection to)[^\\n]*?${name}:(\\d+)[^\\n]*?(?:refused)`,
      'i',
    ),
  ],
  ['refused', new RegExp(`ECONNREFUSED ${name}:(\\d+)`)],
  ['refused', new RegExp(`Connection refused[^\\n]*?${name}[:/](\\d+)`, 'i')],
  ['refused', /connection refused|ECONNREFUSED/i],
  [
    'credentials',
    /password authentication failed|Access denied for user|WRONGPASS|NOAUTH|ACCESS_REFUSED|SASL authentication failed|invalid username-password|authentication failed for user/i,
  ],
  [
    'exhausted',
    /too many connections|remaining connection slots|connection pool (?:is )?exhausted|QueuePool limit|Timeout waiting for connection from pool|ConnectionPoolTimeout|max_connections/i,
  ],
  [
    'no-answer',
    new RegExp(
      `https?://${name}(?::(\\d+))?[^\\n]*(?:timeout|timed out|deadline exceeded|awaiting headers|50[234])`,
      'i',
    ),
  ],
  ['no-answer', new RegExp(`dial tcp ${name}:(\\d+): (?:i/o timeout|connect: connection timed out)`, 'i')],
  [
    'no-answer',
    new RegExp(`(?:timeout|timed out|unavailable|50[234])[^\\n]*?(?:https?://|host[= ]|upstream[= ]|to )${name}`, 'i'),
  ],
  [
    'no-answer',
    /Client\.Timeout exceeded|SocketTimeoutException|ReadTimeout|ETIMEDOUT|ESOCKETTIMEDOUT|context deadline exceeded|Read timed out|upstream request timeout/i,
  ],
];

const complaining =
  /\b(ERROR|ERR|WARN|WARNING|FATAL|CRIT|panic|error|failed|Exception)\b|exceeded|refused|no such host|timed? ?out/i;

/** A lookup that gets no answer is the resolver's matter, not the peer's. */
const speaksOfResolver = /\blookup\b|:53\b|name resolution|EAI_AGAIN|resolv/i;

export const complaintsOf = (facts: ClusterFacts, pods: KubeObject[]): PeerComplaint[] =>
  pods.flatMap((pod) =>
    facts.logsOf(pod).flatMap((log) =>
      podLogLines(log)
        .filter((line) => complaining.test(line.text))
        .flatMap((line): PeerComplaint[] => {
          const found = patterns.find(([, pattern]) => pattern.test(line.text));
          if (!found || (found[0] === 'no-answer' && speaksOfResolver.test(line.text))) return [];
          const match = found[1].exec(line.text)!;
          return [{ pod, line, fault: found[0], host: match[1], port: match[2] }];
        }),
    ),
  );

const isAddress = (host: string): boolean => /^[\d.]+$|^[0-9a-f:]+$/.test(host);

/** The Service a host or cluster address stands for, seen from a namespace. */
export const serviceNamed = (facts: ClusterFacts, host: string, namespace: string): KubeObject | undefined => {
  if (isAddress(host)) return facts.all('Service').find((service) => service.spec?.clusterIP === host);
  const [first, second] = host.split('.');
  return (
    facts.find('Service', first, second && second !== 'svc' ? second : namespace) ??
    facts.find('Service', first, namespace)
  );
};

/** A name that only the cluster's own DNS can answer. */
export const isClusterName = (host: string): boolean =>
  /\.svc(\.|$)|\.cluster\.local$/.test(host) || !host.includes('.');

/** The workload behind a cluster name: by its Service's selector, else by the name itself. */
export const backendsNamed = (facts: ClusterFacts, host: string, namespace: string): KubeObject[] => {
  const service = serviceNamed(facts, host, namespace);
  const selector = service?.spec?.selector;
  const [first, second] = host.split('.');
  const home = service?.metadata.namespace ?? (second && second !== 'svc' ? second : namespace);
  const pods = selector
    ? facts.in('Pod', home).filter((pod) => selects({ matchLabels: selector }, pod.metadata.labels))
    : [];
  const workloads = [...new Set(pods.map((pod) => facts.workloadOf(pod)))];
  if (workloads.length > 0 || isAddress(host)) return workloads;
  return ['StatefulSet', 'Deployment', 'DaemonSet']
    .map((kind) => facts.find(kind, first, home))
    .filter((it) => it !== undefined);
};

export const externalHost = (facts: ClusterFacts, host: string | undefined, namespace: string): boolean => {
  if (!host?.includes('.')) return false;
  return !isAddress(host) && !isClusterName(host) && !serviceNamed(facts, host, namespace);
};
