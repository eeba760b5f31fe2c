import type { KubeObject } from '../../domain/kubernetes.ts';
import type { Provider } from '../../domain/layer.ts';

/** Times of what happened; expiry dates and deadlines lie in the future and are no "now". */
const pastTimes = new Set([
  'acquireTime',
  'completionTime',
  'creationTimestamp',
  'eventTime',
  'finishedAt',
  'firstTimestamp',
  'lastHeartbeatTime',
  'lastObservedTime',
  'lastProbeTime',
  'lastScaleTime',
  'lastScheduleTime',
  'lastSuccessfulTime',
  'lastTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'renewTime',
  'startTime',
  'startedAt',
  'time',
]);

/** The newest time in any object: "now" of a folder that does not say when it was taken. */
export function newestTime(objects: KubeObject[]): string | null {
  let newest = Number.NEGATIVE_INFINITY;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && pastTimes.has(key)) newest = Math.max(newest, Date.parse(inner) || newest);
      else visit(inner);
    }
  };
  for (const object of objects) visit(object);
  return Number.isFinite(newest) ? new Date(newest).toISOString() : null;
}

/** Provider by a node's labels, kubelet version and providerID; `self` where the control plane is not a vendor's. */
export function providerOf(objects: KubeObject[]): Provider {
  for (const node of objects) {
    if (node.kind !== 'Node') continue;
    const labels = node.metadata.labels ?? {};
    const kubelet: string = node.status?.nodeInfo?.kubeletVersion ?? '';
    const providerId: string = node.spec?.providerID ?? '';
    if (labels['eks.amazonaws.com/compute-type'] === 'auto') return 'eks-auto';
    if (kubelet.includes('-eks-') || Object.keys(labels).some((label) => label.startsWith('eks.amazonaws.com/'))) {
      return 'eks';
    }
    if (kubelet.includes('-gke.') || labels['cloud.google.com/gke-nodepool']) return 'gke';
    if (providerId.startsWith('azure://') && labels['kubernetes.azure.com/cluster']) return 'aks';
    if (kubelet.includes('-aliyun') || labels['alibabacloud.com/nodepool-id']) return 'ack';
  }
  return 'self';
}

export const regionOf = (objects: KubeObject[]): string | undefined =>
  objects
    .filter((object) => object.kind === 'Node')
    .map((node) => node.metadata.labels?.['topology.kubernetes.io/region'])
    .find(Boolean);
