import type { Subject } from '../domain/alert.ts';
import { exporterOf, type Labels, measuredLabels } from './exporter.ts';

/** Labels that name the namespace of what an alert is about, first present wins. */
const namespaceLabels = ['namespace', 'k8s_namespace_name', 'kubernetes_namespace', 'destination_service_namespace'];

interface KindLabels {
  kind: string;
  /** Labels that hold its name: kube-state-metrics', OpenTelemetry's, the old kubernetes_* scrape configuration's. */
  labels: string[];
  namespaced: boolean;
}

/**
 * From narrow to wide; the first kind that the labels name is the subject. `job` is the scrape job and never a Job.
 * A node stands before Service and Ingress, which many rules carry as mere context.
 */
const kinds: KindLabels[] = [
  { kind: 'Pod', labels: ['pod', 'pod_name', 'k8s_pod_name', 'kubernetes_pod_name'], namespaced: true },
  { kind: 'PersistentVolumeClaim', labels: ['persistentvolumeclaim', 'pvc'], namespaced: true },
  { kind: 'Deployment', labels: ['deployment', 'k8s_deployment_name'], namespaced: true },
  { kind: 'StatefulSet', labels: ['statefulset', 'k8s_statefulset_name'], namespaced: true },
  { kind: 'DaemonSet', labels: ['daemonset', 'k8s_daemonset_name'], namespaced: true },
  { kind: 'Job', labels: ['job_name', 'k8s_job_name'], namespaced: true },
  { kind: 'CronJob', labels: ['cronjob', 'k8s_cronjob_name'], namespaced: true },
  { kind: 'ReplicaSet', labels: ['replicaset', 'k8s_replicaset_name'], namespaced: true },
  { kind: 'HorizontalPodAutoscaler', labels: ['horizontalpodautoscaler', 'hpa'], namespaced: true },
  { kind: 'ScaledObject', labels: ['scaledObject', 'scaledobject'], namespaced: true },
  { kind: 'PodDisruptionBudget', labels: ['poddisruptionbudget', 'pdb'], namespaced: true },
  { kind: 'ResourceQuota', labels: ['resourcequota'], namespaced: true },
  { kind: 'PersistentVolume', labels: ['persistentvolume'], namespaced: false },
  { kind: 'NodeClaim', labels: ['nodeclaim'], namespaced: false },
  {
    kind: 'Node',
    labels: ['node', 'nodename', 'node_name', 'exported_node', 'k8s_node_name', 'kubernetes_node'],
    namespaced: false,
  },
  {
    kind: 'NodePool',
    labels: ['nodepool', 'node_pool', 'karpenter_sh_nodepool', 'label_karpenter_sh_nodepool'],
    namespaced: false,
  },
  { kind: 'Service', labels: ['service', 'destination_service_name', 'kubernetes_name'], namespaced: true },
  { kind: 'Ingress', labels: ['ingress'], namespaced: true },
];

/** `workload_type` of kube-prometheus' recording rules and `owner_kind` of kube-state-metrics, as kinds. */
const workloadKinds: Record<string, string> = {
  deployment: 'Deployment',
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
  job: 'Job',
  cronjob: 'CronJob',
  replicaset: 'ReplicaSet',
};

/** DNS subdomain of at most 253 characters, the widest rule for names of objects. */
const isObjectName = (value: string): boolean => value.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i.test(value);

const firstName = (labels: Labels, names: string[]): string | undefined =>
  names.map((name) => labels[name] ?? '').find(isObjectName);

const namedWorkload = (labels: Labels): { kind: string; name: string } | undefined => {
  const pairs = [
    [labels.workload_type, labels.workload],
    [labels.owner_kind, labels.owner_name],
    [labels.created_by_kind, labels.created_by_name],
  ];
  for (const [type, name] of pairs) {
    const kind = workloadKinds[type?.toLowerCase() ?? ''];
    if (kind && name && isObjectName(name)) return { kind, name };
  }
  return undefined;
};

/**
 * The node of a per-node exporter: its `instance` is the node's name (kube-prometheus relabels it) or `address:port`.
 * An address is kept as the name; the reader finds the node by `status.addresses`.
 */
const nodeOfInstance = (labels: Labels): string | undefined => {
  const host = (labels.instance ?? labels.hostname ?? labels.Hostname ?? labels.host ?? '').replace(/:\d+$/, '');
  return isObjectName(host) ? host : undefined;
};

const namedObject = (labels: Labels, namespace: string | undefined): { kind: string; name: string } | undefined => {
  for (const { kind, labels: names, namespaced } of kinds) {
    const name = !namespaced || namespace ? firstName(labels, names) : undefined;
    if (name) return { kind, name };
    if (kind === 'Pod' && namespace) {
      const workload = namedWorkload(labels);
      if (workload) return workload;
    }
  }
  return undefined;
};

const clusterScoped = new Set(kinds.filter((kind) => !kind.namespaced).map(({ kind }) => kind));

/** Every distribution calls the cluster DNS Service so, whatever serves it, and its scrape job by that or CoreDNS. */
const isClusterDns = (labels: Labels): boolean => /^(kube-dns|coredns)$/.test(labels.job ?? '');

/**
 * What an alert is about, by kube-prometheus' label conventions: the narrowest object the labels name, else the
 * namespace, else the cluster. Labels that name the exporter in place of what it measured do not count.
 */
export const resolveSubject = (all: Labels, cluster: string): Subject => {
  const alertname = all.alertname ?? '';
  const name = all.name ?? '';
  if (/^KubeAggregatedAPI/.test(alertname) && isObjectName(name)) return { cluster, kind: 'APIService', name };
  const labels = measuredLabels(all);
  const namespace = firstName(labels, namespaceLabels);
  const object = namedObject(labels, namespace);
  if (object) {
    const container = labels.container ?? labels.container_name ?? labels.k8s_container_name;
    return {
      cluster,
      ...object,
      ...(namespace && !clusterScoped.has(object.kind) ? { namespace } : {}),
      ...(object.kind === 'Pod' && container && container !== 'POD' ? { container } : {}),
    };
  }
  const exporter = exporterOf(all);
  const node = exporter === 'nodes' || exporter === 'kubelet' ? nodeOfInstance(labels) : undefined;
  if (node) return { cluster, kind: 'Node', name: node };
  if (!namespace) return { cluster, kind: 'Cluster' };
  if (isClusterDns(all)) return { cluster, kind: 'Service', name: 'kube-dns', namespace };
  return { cluster, kind: 'Namespace', name: namespace, namespace };
};

/** The labels by which `resolveSubject` finds this subject again. */
export const labelsOf = ({ kind, name, namespace }: Subject): Labels => {
  const label = kinds.find((known) => known.kind === kind)?.labels[0];
  return { ...(namespace && { namespace }), ...(label && name && { [label]: name }) };
};
