import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { authorOf, lastChangeOf } from '../../facts/changes/last-change.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { destinationRulesOf, isMeshed, podsBehind, serverPolicyOf } from '../../facts/network/mesh.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import type { Scope } from '../../facts/scope.ts';
import { earliest, latest, minutesBetween } from '../../facts/time.ts';
import { backendsNamed } from '../../facts/workloads/dependencies.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Envoy's words where client and server disagree about TLS; `filter_chain_not_found`: plain text came to a strict port. */
const handshake =
  /WRONG_VERSION_NUMBER|filter_chain_not_found|TLS[ _]error|CERTIFICATE_VERIFY_FAILED|SSL routines|upstream connect error or disconnect\/reset before headers|upstream_reset_before_response_started|\b(?:UF|UC)(?:,URX)?\b.*(?:503|reset)|503 (?:UF|UC)\b|server gave HTTP response to HTTPS client/;
const recentMinutes = 24 * 60;
const plainClient = /connection reset by peer|ECONNRESET|\bEOF\b|empty reply|socket hang up/i;

export default rule({
  title:
    'Client and server of a mesh disagree about mutual TLS: a DestinationRule, a PeerAuthentication or a missing sidecar',
  lookAlikes: [
    'an upstream that is down or slow: the same status without a disagreement of the objects',
    'TLS of the application itself, outside the mesh',
    'a permissive server: it takes both',
  ],
  judge(facts, scope) {
    const complaints = grep(facts, scope.pods, handshake);
    const resets = grep(
      facts,
      scope.pods.filter((pod) => !isMeshed(pod)),
      plainClient,
    );
    if (complaints.length + resets.length === 0) return [];
    const targets = new Set([...facts.all('Service'), ...calledBy(facts, [...complaints, ...resets])]);
    const found = [...targets].flatMap((service) => mismatchesOf(facts, service));
    const told = found.filter((mismatch) => relevant(facts, scope, mismatch, [...complaints, ...resets]).length > 0);
    return groupBy(told, (mismatch) => nameOf(mismatch.root)).flatMap((group) =>
      mismatchFinding(facts, scope, group[0]!, [...complaints, ...resets]),
    );
  },
});

/** Of a line's peers, the workloads whose Service was not read: by the name that they share with it. */
const calledBy = (facts: ClusterFacts, lines: PodLogLine[]): KubeObject[] =>
  lines.flatMap(({ text: line, log }) =>
    [...line.matchAll(/(?:\/\/|\|\||\s)([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc[\w.]*)?(?=[:/\s"]|$)/g)].flatMap(
      ([, name, home]) =>
        facts.find('Service', name, home) ? [] : backendsNamed(facts, `${name}.${home}`, log.namespace),
    ),
  );

interface Mismatch {
  /** The Service, or the workload behind it where the Service was not read. */
  service: KubeObject;
  servers: KubeObject[];
  says: string;
  /** The object at fault, of two that disagree the one that was changed last. */
  root: KubeObject;
  others: KubeObject[];
  /** Only clients outside the mesh are refused. */
  plain: boolean;
}

const mismatchesOf = (facts: ClusterFacts, service: KubeObject): Mismatch[] => {
  const servers = service.kind === 'Service' ? podsBehind(facts, service) : facts.podsOf(service);
  const [server] = servers;
  if (!server) return [];
  const { mode, policy } = serverPolicyOf(facts, server);
  const meshed = isMeshed(server);
  const ruled = destinationRulesOf(facts, service).flatMap((destination): Mismatch[] => {
    const asked = destination.spec?.trafficPolicy?.tls?.mode;
    const base = { service, servers, plain: false };
    if (asked === 'DISABLE' && mode === 'STRICT' && meshed)
      return [
        {
          ...base,
          says: `${nameOf(destination)} makes clients speak plain text (tls.mode DISABLE) to ${nameOf(service)}, whose server demands mutual TLS (${policy ? nameOf(policy) : 'STRICT'})`,
          ...laterOf(destination, policy),
        },
      ];
    if (asked === 'SIMPLE' && meshed && mode !== 'DISABLE')
      return [
        {
          ...base,
          says: `${nameOf(destination)} makes clients speak plain TLS (tls.mode SIMPLE) to ${nameOf(service)}, whose sidecar expects that of the mesh`,
          ...laterOf(destination, undefined),
        },
      ];
    if (/^(ISTIO_MUTUAL|MUTUAL)$/.test(asked ?? '') && (!meshed || mode === 'DISABLE'))
      return [
        {
          ...base,
          says: `${nameOf(destination)} makes clients speak mutual TLS (${asked}) to ${nameOf(service)}, whose pods ${meshed ? `switch it off (${nameOf(policy!)})` : 'have no sidecar to answer it'}`,
          ...laterOf(destination, meshed ? policy : undefined),
        },
      ];
    return [];
  });
  if (ruled.length > 0 || mode !== 'STRICT' || !policy || !meshed) return ruled;
  return [
    {
      service,
      servers,
      plain: true,
      root: policy,
      others: [],
      says: `${nameOf(policy)} demands mutual TLS (STRICT) of all clients of ${nameOf(service)}, and clients without a sidecar cannot speak it`,
    },
  ];
};

const changedAt = (object: KubeObject | undefined): string =>
  latest(...(object?.metadata.managedFields ?? []).map(({ time }) => time), object?.metadata.creationTimestamp) ?? '';

const laterOf = (first: KubeObject, second: KubeObject | undefined): Pick<Mismatch, 'root' | 'others'> =>
  second && changedAt(second) > changedAt(first)
    ? { root: second, others: [first] }
    : { root: first, others: second ? [second] : [] };

/** Lines about this Service: they name it, or the server's own proxy wrote them. */
const relevant = (
  facts: ClusterFacts,
  scope: Scope,
  { service, servers, plain, root }: Mismatch,
  lines: PodLogLine[],
): PodLogLine[] => {
  const { name, namespace } = service.metadata;
  const named = new RegExp(
    `(?:^|[^\\w-])${name}(?:\\.${namespace}\\b|[:/]|\\.svc|[^\\w.-]|$)|${service.spec?.clusterIP ?? '\\b\\B'}:`,
  );
  const own = new Set(servers.map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`));
  return lines.filter((line) => {
    const isServer = own.has(`${line.log.namespace}/${line.log.pod}`);
    if (isServer) return /filter_chain_not_found/.test(line.text) || (!plain && handshake.test(line.text));
    const pod = facts.find('Pod', line.log.pod, line.log.namespace);
    // A strict server that was so for long has no new quarrel with its clients: a reset has other causes.
    if (plain && (!pod || isMeshed(pod) || minutesBetween(changedAt(root), facts.now) > recentMinutes)) return false;
    return named.test(line.text) && scope.pods.some((entry) => entry === pod);
  });
};

const mismatchFinding = (facts: ClusterFacts, scope: Scope, mismatch: Mismatch, all: PodLogLine[]): FindingDraft[] => {
  const { service, servers, root, others, says } = mismatch;
  const refusals = grep(facts, servers, /filter_chain_not_found/).slice(-1);
  const lines = [...new Set([...relevant(facts, scope, mismatch, all), ...(mismatch.plain ? refusals : [])])];
  const owner = ownershipOf(facts, root);
  const evidence = cite(owner, facts);
  const change = lastChangeOf(facts, root);
  const proven = lines.some((line) => /WRONG_VERSION_NUMBER|filter_chain_not_found|TLS[ _]error/.test(line.text));
  const strength: Strength = proven ? 'direct' : 'derived';
  const clients = lines
    .map((line) => facts.find('Pod', line.log.pod, line.log.namespace))
    .filter((pod) => pod !== undefined);
  const field = root.kind === 'PeerAuthentication' ? 'spec.mtls.mode' : 'spec.trafficPolicy.tls.mode';
  return [
    {
      mechanism: 'network',
      explains: [
        'dependency',
        'application-error',
        'probe',
        'crash',
        'rollout',
        'certificate',
        'traffic',
        'unknown-symptom',
      ],
      owner,
      boundary: 'config',
      strength,
      cause: text(
        `${says}${change && authorOf(change) ? `; ${nameOf(root)} was last changed at ${change.at} ${authorOf(change)}` : ''}.`,
      ),
      root: refOf(root),
      affects: [
        service,
        ...servers,
        ...servers.slice(0, 1).map((pod) => facts.workloadOf(pod)),
        ...clients,
        ...clients.map((pod) => facts.workloadOf(pod)),
      ].map(refOf),
      onset: earliest(...lines.map((line) => line.at)),
      evidence: [
        ...lines.slice(-2).map((line) => evidence.log(line.log, line.text)),
        evidence.field(root, field),
        ...others.map((object) =>
          evidence.field(
            object,
            object.kind === 'PeerAuthentication' ? 'spec.mtls.mode' : 'spec.trafficPolicy.tls.mode',
          ),
        ),
        evidence.field(
          servers[0]!,
          'spec.containers',
          isMeshed(servers[0]!) ? 'with istio-proxy' : 'without istio-proxy',
        ),
      ],
      chain: [
        link(root, says),
        link(service, 'is refused'),
        ...clients.slice(0, 2).map((pod) => link(pod, 'cannot speak to it')),
      ],
      contributing: [],
      nextSteps: [
        text(
          change?.undo ??
            `Make both sides agree: kubectl get destinationrules,peerauthentications -A -o yaml; istioctl x describe service ${service.metadata.name} -n ${service.metadata.namespace}`,
        ),
      ],
    },
  ];
};
