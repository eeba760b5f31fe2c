import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import { earliest, minutesBetween } from '../time.ts';

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];

/** The label that names a node's zone, the present one before the one of old clusters. */
export const zoneLabelOf = (node: KubeObject): string =>
  zoneLabels.find((key) => node.metadata.labels?.[key] !== undefined) ?? zoneLabels[0]!;

export const zoneOf = (node: KubeObject | undefined): string | undefined => node?.metadata.labels?.[zoneLabelOf(node)];

/** Pool or group a node belongs to, in each provider's label. */
export const groupOf = (node: KubeObject): string | undefined => {
  const labels = node.metadata.labels ?? {};
  return [
    'karpenter.sh/nodepool',
    'eks.amazonaws.com/nodegroup',
    'cloud.google.com/gke-nodepool',
    'kubernetes.azure.com/agentpool',
    'alibabacloud.com/nodepool-id',
    'kops.k8s.io/instancegroup',
  ]
    .map((key) => labels[key])
    .find(Boolean);
};

/** The label that says a node may be taken back at any time; undefined: it may not. */
export const spotLabelOf = (node: KubeObject): string | undefined =>
  Object.entries({
    'karpenter.sh/capacity-type': 'spot',
    'eks.amazonaws.com/capacityType': 'SPOT',
    'cloud.google.com/gke-spot': 'true',
    'cloud.google.com/gke-preemptible': 'true',
    'kubernetes.azure.com/scalesetpriority': 'spot',
  }).find(([key, value]) => node.metadata.labels?.[key] === value)?.[0];

export const isSpot = (node: KubeObject): boolean => spotLabelOf(node) !== undefined;

export const readiness = (node: KubeObject | undefined) => condition(node, 'Ready');

/** Ready=Unknown: the node controller has lost the kubelet; the kubelet itself says nothing. */
export const isSilent = (node: KubeObject | undefined): boolean => readiness(node)?.status === 'Unknown';

/** Ready=False: the kubelet itself says that it is not ready. */
export const isUnreadyBySelf = (node: KubeObject): boolean => readiness(node)?.status === 'False';

export const isNotReady = (node: KubeObject): boolean => isSilent(node) || isUnreadyBySelf(node);

export const leaseOf = (facts: ClusterFacts, node: KubeObject): KubeObject | undefined =>
  facts.find('Lease', node.metadata.name, 'kube-node-lease');

/** Minutes since a lease was renewed; NaN without one. */
export const leaseAgeMinutes = (facts: ClusterFacts, lease: KubeObject | undefined): number =>
  minutesBetween(lease?.spec?.renewTime, facts.now);

/** When the node fell silent: the lease's last renewal, else the condition's transition. */
export const silentSince = (facts: ClusterFacts, node: KubeObject): string | undefined =>
  earliest(readiness(node)?.lastTransitionTime, leaseOf(facts, node)?.spec?.renewTime);

/** What distinguishes a node's software: OS image, kernel and runtime, as the kubelet reports them. */
export const softwareOf = (node: KubeObject): { os: string; kernel: string; runtime: string } => {
  const info = node.status?.nodeInfo ?? {};
  return { os: info.osImage ?? '', kernel: info.kernelVersion ?? '', runtime: info.containerRuntimeVersion ?? '' };
};

/** Being taken away on purpose: taints and deletion marks that Karpenter, Cluster Autoscaler and drains leave. */
export const removalMark = (node: KubeObject): { mark: string; at?: string } | undefined => {
  const taint = (node.spec?.taints ?? []).find((entry: any) =>
    /^(karpenter\.sh\/(disrupted|disruption)|ToBeDeletedByClusterAutoscaler|cloud\.google\.com\/impending-node-termination)$/.test(
      entry.key,
    ),
  );
  if (taint) return { mark: taint.key, at: taint.timeAdded ?? node.metadata.deletionTimestamp };
  return node.metadata.deletionTimestamp
    ? { mark: 'deletionTimestamp', at: node.metadata.deletionTimestamp }
    : undefined;
};
