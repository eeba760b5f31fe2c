import type { KubeObject } from '../domain/kubernetes.ts';
import type { Layer } from '../domain/layer.ts';
import type { ClusterFacts } from './cluster.ts';

/** Namespaces that hold cluster parts wherever they occur: Kubernetes' own, and the usual homes of add-ons. */
const platformNamespace =
  /^(kube-|karpenter|monitoring$|observability$|prometheus|grafana|loki|logging$|istio-|linkerd|cert-manager|ingress-|gatekeeper-|kyverno|argocd$|argo-cd$|flux-|calico-|tigera-|cilium|external-dns|external-secrets|keda|metallb-|velero|harbor$|artifactory$|nexus$|registry$|longhorn-|rook-|openshift-|gke-|gmp-|amazon-|aws-|azure-|node-|nvidia|gpu-operator|cattle-|knative-|projectcontour|traefik|vault$|policy$|opa$|descheduler|cluster-|platform|infra)/;

const platformTeam = /^(platform|infra|infrastructure|sre|devops|ops|cloud-platform|kubernetes|k8s|cluster)([-_].*)?$/i;

const clusterScoped = new Set([
  'Node',
  'NodeClaim',
  'NodePool',
  'EC2NodeClass',
  'NodeClass',
  'AKSNodeClass',
  'StorageClass',
  'PersistentVolume',
  'CSIDriver',
  'CSINode',
  'VolumeAttachment',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'APIService',
  'PriorityClass',
  'RuntimeClass',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'ClusterPolicy',
]);

/** Label and annotation keys by which teams mark what is theirs. */
export const teamKeys = ['team', 'owner', 'squad', 'app.kubernetes.io/team', 'backstage.io/owner'];

export const teamOf = (object: KubeObject | undefined): string | undefined => {
  for (const key of teamKeys) {
    const value = object?.metadata.labels?.[key] ?? object?.metadata.annotations?.[key];
    if (value) return value;
  }
  return undefined;
};

interface AgentSpec {
  template?: { spec?: { priorityClassName?: string; tolerations?: { key?: string; operator?: string }[] } };
}

/**
 * A DaemonSet that belongs to the nodes, whatever its namespace: it tolerates every taint and may not be preempted
 * (Kubernetes' own class `system-node-critical`). Teams do not get either for their services.
 */
const isNodeAgent = (object: KubeObject): boolean => {
  if (object.kind !== 'DaemonSet') return false;
  const spec = (object.spec as AgentSpec | undefined)?.template?.spec;
  return (
    spec?.priorityClassName === 'system-node-critical' &&
    (spec.tolerations ?? []).some((toleration) => toleration.operator === 'Exists' && !toleration.key)
  );
};

/**
 * Whose object this is: its team label, else its workload's, else its namespace's, else the namespace's name.
 * A node agent that nobody marked is the platform's.
 * Cluster-scoped objects are the platform's. A vendor's own objects are for the rules to tell.
 */
export const ownershipOf = (facts: ClusterFacts, object: KubeObject): Extract<Layer, 'platform' | 'app'> => {
  if (clusterScoped.has(object.kind)) return 'platform';
  const namespace = object.metadata.namespace ?? '';
  const team =
    teamOf(object) ?? teamOf(facts.workloadOf(object)) ?? teamOf(facts.find('Namespace', namespace, undefined));
  if (team) return platformTeam.test(team) ? 'platform' : 'app';
  return platformNamespace.test(namespace) || isNodeAgent(facts.workloadOf(object)) ? 'platform' : 'app';
};

export const isPlatformNamespace = (namespace: string): boolean => platformNamespace.test(namespace);
