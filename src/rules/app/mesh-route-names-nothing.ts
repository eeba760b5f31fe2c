import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { destinationRulesOf, meshService, placeOf, podsBehind } from '../../facts/network/mesh.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { selects } from '../../facts/selectors.ts';
import { earliest } from '../../facts/time.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Envoy's words for a route that leads nowhere: NR, NC and UH of its response flags. */
const nowhere =
  /no healthy upstream|no_healthy_upstream|route_not_found|cluster_not_found|\b(?:503 UH|503 NC|404 NR|50[03] NR)\b|filter_chain_match/;

export default rule({
  title: 'A mesh route sends requests to a host, a port or a subset that does not exist or holds no pod',
  lookAlikes: [
    'a subset whose pods exist and are not ready: the pods',
    'a route that gets no share of the requests',
    'a host outside the cluster',
  ],
  judge(facts, scope) {
    return facts
      .all('VirtualService')
      .flatMap((route) => destinationsOf(route).flatMap((destination) => faultOf(facts, route, destination) ?? []))
      .map((fault) => ({ fault, told: toldOf(facts, scope, fault) }))
      .filter(({ fault, told }) => concerns(facts, scope, fault, told))
      .slice(0, 2)
      .map(({ fault, told }): FindingDraft => {
        const owner = ownershipOf(facts, fault.root);
        const evidence = cite(owner, facts);
        const write = lastWriter(fault.root);
        const backends = fault.service ? podsBehind(facts, fault.service) : [];
        return {
          mechanism: 'traffic',
          explains: ['application-error', 'dependency', 'probe', 'rollout', 'unknown-symptom', 'network'],
          owner,
          boundary: 'config',
          strength: told.length > 0 ? 'direct' : 'derived',
          cause: text(
            `${nameOf(fault.route)} sends ${fault.share} of the requests to ${fault.says}${write?.manager ? `; ${nameOf(fault.root)} was last written by ${write.manager} at ${write.time}` : ''}.`,
          ),
          root: refOf(fault.root),
          affects: [
            fault.route,
            ...(fault.service ? [fault.service] : []),
            ...backends,
            ...backends.slice(0, 1).map((pod) => facts.workloadOf(pod)),
            ...callersOf(facts, told),
          ].map(refOf),
          onset: earliest(...told.map((line) => line.at)) ?? write?.time,
          evidence: [
            ...told.slice(-2).map((line) => evidence.log(line.log, line.text)),
            evidence.field(fault.route, fault.path, JSON.stringify(fault.destination)),
            ...fault.rules
              .slice(0, 2)
              .map((object) => evidence.field(object, 'spec.subsets', JSON.stringify(object.spec?.subsets ?? []))),
            ...(fault.service
              ? [evidence.field(fault.service, 'spec.ports', JSON.stringify(fault.service.spec?.ports ?? []))]
              : []),
            ...backends.slice(0, 1).map((pod) => evidence.field(pod, 'metadata.labels')),
          ],
          chain: [
            link(fault.route, `sends requests to ${fault.says}`),
            ...(fault.root === fault.route ? [] : [link(fault.root, 'does not offer it')]),
          ],
          contributing: [],
          nextSteps: [
            text(
              `Correct the destination or bring back what it names: kubectl get virtualservices,destinationrules -n ${fault.route.metadata.namespace} -o yaml; istioctl analyze -n ${fault.route.metadata.namespace}`,
            ),
          ],
        };
      });
  },
});

interface Destination {
  host: string;
  subset?: string;
  port?: number;
  weight: number;
  /** Sum of the weights of its route. */
  of: number;
  path: string;
}

const destinationsOf = (route: KubeObject): Destination[] =>
  ['http', 'tls', 'tcp'].flatMap((protocol) =>
    ((route.spec?.[protocol] ?? []) as any[]).flatMap((entry, index) => {
      const targets: any[] = entry.route ?? [];
      const of = targets.reduce((sum, target) => sum + (target.weight ?? (targets.length === 1 ? 100 : 0)), 0);
      return targets.map((target, at) => ({
        host: target.destination?.host ?? '',
        subset: target.destination?.subset,
        port: target.destination?.port?.number,
        weight: target.weight ?? (targets.length === 1 ? 100 : 0),
        of,
        path: `spec.${protocol}[${index}].route[${at}].destination`,
      }));
    }),
  );

interface Fault {
  route: KubeObject;
  root: KubeObject;
  service?: KubeObject;
  rules: KubeObject[];
  says: string;
  share: string;
  path: string;
  destination: { host: string; subset?: string; port?: number };
}

const faultOf = (facts: ClusterFacts, route: KubeObject, target: Destination): Fault | undefined => {
  const { host, subset, port, weight, of, path } = target;
  const [name, home] = placeOf(host, route.metadata.namespace ?? '');
  if (!host || weight === 0 || !home) return undefined;
  const service = meshService(facts, host, route.metadata.namespace ?? '');
  const base = {
    route,
    root: route,
    rules: [] as KubeObject[],
    share: weight >= of ? 'all' : `${weight} of ${of}`,
    path,
    destination: { host, subset, port },
  };
  if (!service)
    return facts.wasRead('services', home) && facts.find('Namespace', home)
      ? { ...base, says: `${host}, and namespace ${home} has no Service ${name}` }
      : undefined;
  const rules = destinationRulesOf(facts, service);
  const ports: any[] = service.spec?.ports ?? [];
  if (port && ports.length > 0 && !ports.some((entry) => entry.port === port))
    return {
      ...base,
      service,
      rules,
      says: `port ${port} of ${nameOf(service)}, which offers ${ports.map((entry) => entry.port).join(', ')}`,
    };
  if (!subset || !facts.wasRead('destinationrules')) return undefined;
  const defined = rules
    .flatMap((object) => (object.spec?.subsets ?? []).map((entry: any) => ({ object, entry })))
    .find(({ entry }) => entry.name === subset);
  if (!defined)
    return {
      ...base,
      root: rules[0] ?? route,
      service,
      rules,
      says: `subset ${subset} of ${nameOf(service)}, which no DestinationRule defines`,
    };
  const chosen = podsBehind(facts, service).filter((pod) =>
    selects({ matchLabels: defined.entry.labels ?? {} }, pod.metadata.labels),
  );
  const exists = podsBehind(facts, service).some(isReady);
  return chosen.length === 0 && exists
    ? {
        ...base,
        root: defined.object,
        service,
        rules,
        says: `subset ${subset} (${JSON.stringify(defined.entry.labels ?? {})}) of ${nameOf(service)}, whose labels no pod bears`,
      }
    : undefined;
};

/** The route serves something of the incident itself, or a pod of it complains about the host. */
const concerns = (facts: ClusterFacts, scope: Scope, { route, service }: Fault, told: PodLogLine[]): boolean =>
  !scope.wide &&
  (told.length > 0 ||
    [route, ...(service ? [service, ...podsBehind(facts, service)] : [])].some((object) => scope.has(refOf(object))));

/** What pods of the incident say about the host. */
const toldOf = (facts: ClusterFacts, scope: Scope, { destination }: Fault): PodLogLine[] => {
  const [name] = destination.host.split('.');
  const names = new RegExp(`(?:^|[^\\w-])${name}(?:[^\\w-]|$)`);
  return grep(facts, scope.pods, nowhere).filter((line) => names.test(line.text));
};

/** Whoever complains is hurt. */
const callersOf = (facts: ClusterFacts, told: PodLogLine[]): KubeObject[] => [
  ...new Set(
    told
      .flatMap(({ log }) => facts.find('Pod', log.pod, log.namespace) ?? [])
      .flatMap((pod) => [pod, facts.workloadOf(pod)]),
  ),
];
