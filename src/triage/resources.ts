import type { Provider } from '../domain/layer.ts';
import type { Resource } from './ports.ts';

/** What the API does with a resource; `deploy/` is derived from it. */
export interface ReadableResource extends Resource {
  scope: 'cluster' | 'namespace';
}

/**
 * Declares one resource that triage may read. A Secret cannot be declared: its kind makes the argument `never`.
 * Versions are those that served clusters have in common; the live reader falls back to the group's preferred one.
 */
const resource =
  (scope: ReadableResource['scope']) =>
  <Kind extends string>(
    groupVersion: string,
    plural: string,
    kind: Kind extends 'Secret' ? never : Kind,
  ): ReadableResource => {
    const slash = groupVersion.indexOf('/');
    return {
      group: groupVersion.slice(0, Math.max(slash, 0)),
      version: groupVersion.slice(slash + 1),
      plural,
      kind,
      scope,
    };
  };

const namespaced = resource('namespace');
const clusterWide = resource('cluster');

/** Every resource that triage may read, by plural (qualified by its group where two groups share a plural). */
export const resources = {
  pods: namespaced('v1', 'pods', 'Pod'),
  events: namespaced('v1', 'events', 'Event'),
  services: namespaced('v1', 'services', 'Service'),
  persistentvolumeclaims: namespaced('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  resourcequotas: namespaced('v1', 'resourcequotas', 'ResourceQuota'),
  limitranges: namespaced('v1', 'limitranges', 'LimitRange'),
  serviceaccounts: namespaced('v1', 'serviceaccounts', 'ServiceAccount'),
  /** By name: those of `configMapNames`, and those that troubled pods use; of the latter no value is kept. */
  configmaps: namespaced('v1', 'configmaps', 'ConfigMap'),
  nodes: clusterWide('v1', 'nodes', 'Node'),
  namespaces: clusterWide('v1', 'namespaces', 'Namespace'),
  persistentvolumes: clusterWide('v1', 'persistentvolumes', 'PersistentVolume'),

  deployments: namespaced('apps/v1', 'deployments', 'Deployment'),
  replicasets: namespaced('apps/v1', 'replicasets', 'ReplicaSet'),
  statefulsets: namespaced('apps/v1', 'statefulsets', 'StatefulSet'),
  daemonsets: namespaced('apps/v1', 'daemonsets', 'DaemonSet'),
  controllerrevisions: namespaced('apps/v1', 'controllerrevisions', 'ControllerRevision'),
  jobs: namespaced('batch/v1', 'jobs', 'Job'),
  cronjobs: namespaced('batch/v1', 'cronjobs', 'CronJob'),
  horizontalpodautoscalers: namespaced('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  poddisruptionbudgets: namespaced('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  endpointslices: namespaced('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'),
  networkpolicies: namespaced('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy'),
  ingresses: namespaced('networking.k8s.io/v1', 'ingresses', 'Ingress'),
  leases: namespaced('coordination.k8s.io/v1', 'leases', 'Lease'),
  rolebindings: namespaced('rbac.authorization.k8s.io/v1', 'rolebindings', 'RoleBinding'),

  storageclasses: clusterWide('storage.k8s.io/v1', 'storageclasses', 'StorageClass'),
  csidrivers: clusterWide('storage.k8s.io/v1', 'csidrivers', 'CSIDriver'),
  csinodes: clusterWide('storage.k8s.io/v1', 'csinodes', 'CSINode'),
  volumeattachments: clusterWide('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment'),
  priorityclasses: clusterWide('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass'),
  runtimeclasses: clusterWide('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass'),
  apiservices: clusterWide('apiregistration.k8s.io/v1', 'apiservices', 'APIService'),
  validatingwebhookconfigurations: clusterWide(
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
  ),
  mutatingwebhookconfigurations: clusterWide(
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
  ),
  flowschemas: clusterWide('flowcontrol.apiserver.k8s.io/v1', 'flowschemas', 'FlowSchema'),
  prioritylevelconfigurations: clusterWide(
    'flowcontrol.apiserver.k8s.io/v1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
  ),

  nodepools: clusterWide('karpenter.sh/v1', 'nodepools', 'NodePool'),
  nodeclaims: clusterWide('karpenter.sh/v1', 'nodeclaims', 'NodeClaim'),
  ec2nodeclasses: clusterWide('karpenter.k8s.aws/v1', 'ec2nodeclasses', 'EC2NodeClass'),
  nodeclasses: clusterWide('eks.amazonaws.com/v1', 'nodeclasses', 'NodeClass'),
  aksnodeclasses: clusterWide('karpenter.azure.com/v1beta1', 'aksnodeclasses', 'AKSNodeClass'),
  securitygrouppolicies: namespaced('vpcresources.k8s.aws/v1beta1', 'securitygrouppolicies', 'SecurityGroupPolicy'),
  verticalpodautoscalers: namespaced('autoscaling.k8s.io/v1', 'verticalpodautoscalers', 'VerticalPodAutoscaler'),
  scaledobjects: namespaced('keda.sh/v1alpha1', 'scaledobjects', 'ScaledObject'),
  certificates: namespaced('cert-manager.io/v1', 'certificates', 'Certificate'),
  workflows: namespaced('argoproj.io/v1alpha1', 'workflows', 'Workflow'),
  externalsecrets: namespaced('external-secrets.io/v1', 'externalsecrets', 'ExternalSecret'),
  clustersecretstores: clusterWide('external-secrets.io/v1', 'clustersecretstores', 'ClusterSecretStore'),
  clusterqueues: clusterWide('kueue.x-k8s.io/v1beta1', 'clusterqueues', 'ClusterQueue'),
  localqueues: namespaced('kueue.x-k8s.io/v1beta1', 'localqueues', 'LocalQueue'),
  queuedworkloads: namespaced('kueue.x-k8s.io/v1beta1', 'workloads', 'Workload'),

  applications: namespaced('argoproj.io/v1alpha1', 'applications', 'Application'),
  kustomizations: namespaced('kustomize.toolkit.fluxcd.io/v1', 'kustomizations', 'Kustomization'),
  helmreleases: namespaced('helm.toolkit.fluxcd.io/v2', 'helmreleases', 'HelmRelease'),
  httproutes: namespaced('gateway.networking.k8s.io/v1', 'httproutes', 'HTTPRoute'),
  grpcroutes: namespaced('gateway.networking.k8s.io/v1', 'grpcroutes', 'GRPCRoute'),
  gateways: namespaced('gateway.networking.k8s.io/v1', 'gateways', 'Gateway'),
  virtualservices: namespaced('networking.istio.io/v1', 'virtualservices', 'VirtualService'),
  destinationrules: namespaced('networking.istio.io/v1', 'destinationrules', 'DestinationRule'),
  peerauthentications: namespaced('security.istio.io/v1', 'peerauthentications', 'PeerAuthentication'),
} as const satisfies Record<string, ReadableResource>;

/** Groups of one vendor's own, and the providers whose clusters can serve them; Karpenter also runs on self-managed ones. */
const vendorGroups: Record<string, Provider[]> = {
  'karpenter.k8s.aws': ['eks', 'eks-auto', 'self'],
  'eks.amazonaws.com': ['eks', 'eks-auto'],
  'vpcresources.k8s.aws': ['eks', 'eks-auto'],
  'karpenter.azure.com': ['aks', 'self'],
};

/** Whether a cluster of this provider can have the resource at all: what it cannot have is never asked for or missed. */
export const canServe = (provider: Provider, { group }: Resource): boolean =>
  vendorGroups[group]?.includes(provider) ?? true;

/** What every cluster serves by itself; all other groups come with something that is installed. */
const builtInGroups = new Set([
  ...['', 'apps', 'batch', 'autoscaling', 'policy', 'discovery.k8s.io', 'networking.k8s.io', 'coordination.k8s.io'],
  ...['rbac.authorization.k8s.io', 'storage.k8s.io', 'scheduling.k8s.io', 'node.k8s.io', 'apiregistration.k8s.io'],
  ...['admissionregistration.k8s.io', 'flowcontrol.apiserver.k8s.io'],
]);

export const isBuiltIn = ({ group }: Resource): boolean => builtInGroups.has(group);

/** Whether a plural is that of an add-on, which a cluster may well not have. */
export const isAddOn = (plural: string): boolean =>
  Object.values<ReadableResource>(resources).some((known) => known.plural === plural && !isBuiltIn(known));

/** The ConfigMaps of kube-system that say something about an incident, kept with their values; none holds credentials. */
export const configMapNames = [
  'amazon-vpc-cni',
  'aws-auth',
  'cluster-autoscaler-status',
  'coredns',
  'coredns-custom',
  'eci-profile',
  'gke-common-webhook-heartbeat',
  'kube-dns',
  'node-local-dns',
] as const;

/** Whether the values of a ConfigMap are kept: an application's may hold whatever its authors put there. */
export const keepsValues = ({ name, namespace }: { name: string; namespace?: string }): boolean =>
  namespace === 'kube-system' && configMapNames.some((known) => known === name);

export const isNamespaced = (resource: Resource): boolean =>
  Object.values<ReadableResource>(resources).some(
    (known) => known.plural === resource.plural && known.group === resource.group && known.scope === 'namespace',
  );

/** `plural.group`, as kubectl and RBAC name a resource; the core group has no suffix. */
export const qualifiedName = (resource: Resource): string =>
  resource.group ? `${resource.plural}.${resource.group}` : resource.plural;

/** Throws for a Secret: asking for one is a bug in the caller, so no reader ever answers it. */
export const refuseSecrets = (resource: Resource): void => {
  if (resource.plural.split('/')[0] === 'secrets' || resource.kind === 'Secret') {
    throw new Error('Secrets are never read: remove this request');
  }
};
