import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { containersOf } from '../pods.ts';
import { selects } from '../selectors.ts';

/** Namespace whose PeerAuthentication without a selector holds for the whole mesh (`meshConfig.rootNamespace`). */
const rootNamespace = 'istio-system';

/** The Service of a mesh host: a short name is of the namespace of the object that names it. */
export const meshService = (facts: ClusterFacts, host: string, namespace: string): KubeObject | undefined => {
  const [name, home] = placeOf(host, namespace);
  return facts.find('Service', name, home);
};

/** Name and namespace that a mesh host stands for; no namespace for a host outside the cluster. */
export const placeOf = (host: string, namespace: string): [string, string | undefined] => {
  if (!host.includes('.')) return [host, namespace];
  const local = /^([\w-]+)\.([\w-]+)(?:\.svc(?:\.[\w.-]+)?)?$/.exec(host);
  return local ? [local[1]!, local[2]!] : [host, undefined];
};

/** DestinationRules for a Service, or a workload of its name, whatever spelling of its host they use. */
export const destinationRulesOf = (facts: ClusterFacts, { metadata }: KubeObject): KubeObject[] =>
  facts.all('DestinationRule').filter((rule) => {
    const [name, home] = placeOf(rule.spec?.host ?? '', rule.metadata.namespace ?? '');
    return name === metadata.name && home === metadata.namespace;
  });

export const podsBehind = (facts: ClusterFacts, service: KubeObject): KubeObject[] =>
  service.spec?.selector
    ? facts
        .in('Pod', service.metadata.namespace ?? '')
        .filter((pod) => selects({ matchLabels: service.spec.selector }, pod.metadata.labels))
    : [];

/** Takes part in the mesh: by a sidecar, native or not, or by the node's ztunnel. */
export const isMeshed = (pod: KubeObject): boolean =>
  containersOf(pod).some((container) => container.name === 'istio-proxy') ||
  pod.metadata.annotations?.['ambient.istio.io/redirection'] === 'enabled';

export interface ServerPolicy {
  mode: 'STRICT' | 'PERMISSIVE' | 'DISABLE';
  /** The PeerAuthentication that sets it; undefined: the default of the mesh. */
  policy?: KubeObject;
}

/** What a server pod asks of its clients: its own PeerAuthentication, else its namespace's, else the mesh's. */
export const serverPolicyOf = (facts: ClusterFacts, pod: KubeObject): ServerPolicy => {
  const all = facts.all('PeerAuthentication');
  const { namespace = '', labels } = pod.metadata;
  const own = all.filter(
    (policy) =>
      policy.metadata.namespace === namespace && policy.spec?.selector && selects(policy.spec.selector, labels),
  );
  const wide = (home: string): KubeObject[] =>
    all.filter((policy) => policy.metadata.namespace === home && !policy.spec?.selector);
  const policy = [...own, ...wide(namespace), ...wide(rootNamespace)].find(
    ({ spec }) => spec?.mtls?.mode && spec.mtls.mode !== 'UNSET',
  );
  return { mode: policy?.spec.mtls.mode ?? 'PERMISSIVE', policy };
};
