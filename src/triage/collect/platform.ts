import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isSilent } from '../../facts/nodes/nodes.ts';
import { isPlatformNamespace } from '../../facts/ownership.ts';
import { isTroubled } from '../../facts/pods.ts';
import { scopeOf } from '../../facts/scope.ts';
import { bareCrowds } from '../../facts/workloads/bare-pods.ts';
import { configMapNames, resources } from '../resources.ts';
import { collectBackends } from './backends.ts';
import type { Collection, WantedLog } from './collection.ts';

const clusterScoped = [
  resources.nodes,
  resources.namespaces,
  resources.nodepools,
  resources.nodeclaims,
  resources.ec2nodeclasses,
  resources.nodeclasses,
  resources.aksnodeclasses,
  resources.validatingwebhookconfigurations,
  resources.mutatingwebhookconfigurations,
  resources.apiservices,
  resources.persistentvolumes,
  resources.volumeattachments,
  resources.storageclasses,
  resources.csidrivers,
  resources.csinodes,
  resources.priorityclasses,
  resources.runtimeclasses,
  resources.clusterqueues,
  resources.clustersecretstores,
];

/** Read over all namespaces in one bounded call each: neighbours on the same nodes, other victims, add-ons. */
const sweeps = [
  resources.pods,
  resources.deployments,
  resources.replicasets,
  resources.daemonsets,
  resources.statefulsets,
  resources.horizontalpodautoscalers,
  resources.poddisruptionbudgets,
  resources.securitygrouppolicies,
];

const metrics = [
  'karpenter_nodepools_usage',
  'karpenter_nodepools_limit',
  'karpenter_nodes_created_total',
  'karpenter_nodes_terminated_total',
  'karpenter_nodeclaims_created_total',
  'karpenter_nodeclaims_disrupted_total',
  'karpenter_cloudprovider_errors_total',
  'karpenter_interruption_received_messages_total',
  'karpenter_scheduler_queue_depth',
  'cluster_autoscaler_failed_scale_ups_total',
  'kube_resourcequota',
  'kube_node_status_condition',
  'node_memory_MemAvailable_bytes',
  'container_fs_usage_bytes',
  'node_net_ethtool',
  'node_processes_pids',
  'node_timex_offset_seconds',
  'node_timex_sync_status',
  'kubelet_volume_stats_available_bytes',
  'kubelet_certificate_manager_client_ttl_seconds',
  'kubelet_certificate_manager_client_expiration_seconds',
  'instance:node_cpu_utilisation:rate5m',
  'coredns_forward_request_duration_seconds:p99',
  'coredns_dns_requests_total:rate5m',
  'coredns_dns_request_duration_seconds:p99',
  'coredns_dns_responses_total',
  'awscni_assigned_ip_addresses',
  'awscni_total_ip_addresses',
  'awscni_eni_max',
  'awscni_eni_allocated',
];

/** Logs of controllers whose words name causes. */
const controllers =
  /^(karpenter|coredns|aws-node|cluster-autoscaler|ebs-csi|efs-csi|cilium|kube-proxy|konnectivity|metrics-server|kube-controller-manager|kube-scheduler|kube-apiserver|etcd|external-dns|aws-load-balancer|cert-manager|node-)/;
const maxControllerLogs = 32;

/** Layer 2: nodes and what makes them, add-ons, admission, storage, and the neighbours of the subject. */
export const collectPlatform = async (collection: Collection): Promise<void> => {
  await Promise.all([
    ...clusterScoped.map((resource) => collection.list(resource)),
    ...sweeps.map((resource) => collection.list(resource)),
    collection.list(resources.events, { namespace: 'default' }),
    collection.list(resources.events, { namespace: 'kube-system' }),
    collection.list(resources.events, { fieldSelector: 'type=Warning' }),
    ...configMapNames.map((name) => collection.get(resources.configmaps, name, 'kube-system')),
    ...metrics.map((name) => collection.metric(name)),
  ]);
  const logs = controllerLogs(collection);
  await Promise.all([collectBackends(collection), collection.logs(logs, maxControllerLogs)]);
};

const controllerLogs = (collection: Collection): WantedLog[] => {
  const facts = collection.view();
  const nodes = new Set(scopeOf(facts).nodes.map((node) => node.metadata.name));
  const makers = new Set(bareCrowds(facts).flatMap(({ makers }) => makers.flatMap((maker) => facts.podsOf(maker))));
  const candidates = facts
    .all('Pod')
    .filter((pod) => (isPlatformNamespace(pod.metadata.namespace ?? '') || makers.has(pod)) && pod.spec?.nodeName);
  // The kubelet of a silent node serves no logs.
  const isUnreachable = (pod: KubeObject): boolean => isSilent(facts.nodeOf(pod));
  const interest = (pod: KubeObject): number =>
    (isTroubled(pod) && !isUnreachable(pod) ? 4 : 0) +
    (nodes.has(pod.spec?.nodeName) ? 2 : 0) +
    (controllers.test(pod.metadata.name) ? 1 : 0);
  return spread(
    facts,
    candidates.sort((a, b) => interest(b) - interest(a)),
    nodes,
  ).flatMap(logsWanted);
};

/** Replicas of one workload say the same: a few of each come first, and all that run where the trouble is. */
const logsPerWorkload = 4;

export const spread = (facts: ClusterFacts, pods: KubeObject[], nodes: Set<string>): KubeObject[] => {
  const taken = new Map<KubeObject, number>();
  const isFirst = (pod: KubeObject): boolean => {
    const workload = facts.workloadOf(pod);
    const count = taken.get(workload) ?? 0;
    taken.set(workload, count + 1);
    return nodes.has(pod.spec?.nodeName) || count < logsPerWorkload;
  };
  const first = new Set(pods.filter(isFirst));
  return [...first, ...pods.filter((pod) => !first.has(pod))];
};

/** Each container's log, and the former one's where it restarted. */
export const logsWanted = (pod: KubeObject): WantedLog[] =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap((status: any) => [
    { pod, container: status.name, previous: false },
    ...(status.restartCount > 0 ? [{ pod, container: status.name, previous: true }] : []),
  ]);
