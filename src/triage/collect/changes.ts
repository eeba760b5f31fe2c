import type { KubeObject, ObjectRef } from '../../domain/kubernetes.ts';
import { type Delivery, deliveryOf } from '../../facts/changes/delivery.ts';
import { isMeshed } from '../../facts/network/mesh.ts';
import { minutesBetween } from '../../facts/time.ts';
import { referencesOf } from '../../facts/workloads/references.ts';
import { revisionsOf } from '../../facts/workloads/workloads.ts';
import { resources } from '../resources.ts';
import { inOwn, inOwnOrAll } from './needs.ts';
import type { Candidate, Place } from './plan.ts';
import type { Situation } from './situation.ts';

/** A change of long ago needs no account of who applied it. */
const recentMinutes = 24 * 60;
/** Objects of one kind that are read by name. */
const maxNamed = 3;
/** Where Argo CD keeps its applications, unless an application's mark names another namespace. */
const argoNamespace = 'argocd';

const deliveryAlert: Record<'Application' | 'Kustomization' | 'HelmRelease', RegExp> = {
  Application: /argo|\bsync/i,
  Kustomization: /flux|kustomiz|reconcil/i,
  HelmRelease: /flux|helm|reconcil/i,
};
const trafficWords =
  /\b[45]\d\d\b|5xx|errors?\b|endpoint|ingress|gateway|route|upstream|connect|timeout|refused|\btls\b|mtls|host/i;
const meshWords = /istio|envoy|mesh|mtls|sidecar|upstream|virtualservice|destinationrule/i;
const misrouted = /\b40[0-9]\b|default backend|wrong|\bhost\b/i;
const routeWords = /gateway|httproute|grpcroute|listener|route/i;

const when = (holds: boolean, worth: number): number => (holds ? worth : 0);

/** Workloads of the incident whose template came into use lately. */
const fresh = ({ facts, scope }: Situation): KubeObject[] =>
  scope.workloads.filter((workload) => {
    const [current, previous] = revisionsOf(facts, workload);
    return previous && minutesBetween(current?.metadata.creationTimestamp, facts.now) <= recentMinutes;
  });

const deliveriesOf = ({ facts, scope }: Situation, kind: Delivery['kind']): Delivery[] =>
  scope.workloads.flatMap((workload) => deliveryOf(facts, workload) ?? []).filter((delivery) => delivery.kind === kind);

/** What delivers the incident's workloads, by its name; all of the kind where an alert is about deliveries themselves. */
const delivering = (kind: keyof typeof deliveryAlert, resource: Candidate['resource']): Candidate => ({
  resource,
  wave: 2,
  where: (situation) => {
    if (situation.alertSays(deliveryAlert[kind])) return [{}];
    const home = kind === 'Application' ? argoNamespace : undefined;
    return distinct(deliveriesOf(situation, kind).map(({ name, namespace = home }) => ({ name, namespace })));
  },
  worth: (situation) =>
    Math.max(when(situation.alertSays(deliveryAlert[kind]), 80), when(fresh(situation).length > 0, 37)),
});

/** Put into every namespace by the cluster itself. */
const everywhere = /^(kube-root-ca\.crt|openshift-service-ca\.crt|istio-ca-root-cert|linkerd-identity-trust-roots)$/;

/** ConfigMaps that troubled pods use. */
const usedMaps = ({ troubled }: Situation): Place[] => {
  const used = troubled
    .flatMap(referencesOf)
    .filter((ref: ObjectRef) => ref.kind === 'ConfigMap' && !everywhere.test(ref.name));
  return distinct(used.map(({ name, namespace }) => ({ name, namespace })));
};

const distinct = (places: Place[]): Place[] =>
  [...new Map(places.map((place) => [`${place.namespace}/${place.name}`, place])).values()].slice(0, maxNamed);

/** The namespaces of the Gateways that routes attach to. */
const gatewaysOfRoutes = ({ facts }: Situation): Place[] =>
  distinct(
    ['HTTPRoute', 'GRPCRoute']
      .flatMap((kind) => facts.all(kind))
      .flatMap((route) =>
        ((route.spec?.parentRefs ?? []) as any[]).map((parent) => ({
          name: parent.name,
          namespace: parent.namespace ?? route.metadata.namespace,
        })),
      ),
  );

const routing = ({ kinds, says }: Situation): number =>
  Math.max(
    when(kinds.includes('HTTPRoute') || kinds.includes('Gateway'), 90),
    40 * says(routeWords),
    24 * says(trafficWords),
  );

const meshed = ({ pods, says }: Situation): number =>
  Math.max(50 * says(meshWords), when(pods.some(isMeshed), 30) * says(trafficWords));

/** What changed around the incident and who applied it, and the objects by which requests reach it. */
export const changes: Candidate[] = [
  {
    resource: resources.controllerrevisions,
    wave: 2,
    where: inOwnOrAll,
    worth: ({ troubled }) =>
      when(
        troubled.some((pod) =>
          pod.metadata.ownerReferences?.some(({ kind }) => kind === 'StatefulSet' || kind === 'DaemonSet'),
        ),
        41,
      ),
  },
  delivering('Application', resources.applications),
  delivering('Kustomization', resources.kustomizations),
  delivering('HelmRelease', resources.helmreleases),
  {
    resource: resources.configmaps,
    wave: 2,
    where: usedMaps,
    worth: (s) => when(s.families.includes('crash') || s.families.includes('unready'), fresh(s).length > 0 ? 15 : 39),
  },
  { resource: resources.httproutes, wave: 2, where: inOwn, worth: routing },
  { resource: resources.grpcroutes, wave: 2, where: inOwn, worth: (s) => routing(s) / 2 },
  { resource: resources.gateways, wave: 3, where: gatewaysOfRoutes, worth: routing },
  { resource: resources.virtualservices, wave: 2, where: inOwn, worth: meshed },
  { resource: resources.destinationrules, wave: 2, where: inOwn, worth: meshed },
  { resource: resources.peerauthentications, wave: 2, worth: meshed },
  // Another namespace may claim the same host.
  {
    resource: resources.ingresses,
    wave: 3,
    where: ({ isWhole }) => (isWhole('ingresses') ? [] : [{}]),
    worth: ({ facts, kinds, says, alertSays }) =>
      Math.max(
        when(alertSays(/ingress|nginx/i), 45),
        when(facts.all('Ingress').length > 0, Math.max(when(kinds.includes('Ingress'), 60), 26 * says(misrouted))),
      ),
  },
];
