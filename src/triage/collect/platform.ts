import type { KubeObject } from '../../domain/kubernetes.ts';
import { isSilent, removalMark } from '../../facts/nodes/nodes.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isTroubled } from '../../facts/pods.ts';
import { bareCrowds } from '../../facts/workloads/bare-pods.ts';
import { resources } from '../resources.ts';
import type { Collection } from './collection.ts';
import { configMaps } from './config-maps.ts';
import { logsOf, type RankedLog } from './logs.ts';
import { type Candidate, followPlan, type Place, type Plan } from './plan.ts';
import type { Situation } from './situation.ts';

/** Nobody's namespace in particular: what happens in the cluster may be the cause. */
const isWide = ({ namespaces }: Situation): boolean => namespaces.length === 0;
const growthWords = /scal|nodes?|replica|capacity|cost|count/i;

/** Nodes that are ill or on their way out: their pods are victims, and what holds them. */
const onTroubledNodes = ({ facts, scope, illNodes, isWhole }: Situation): Place[] => {
  if (isWhole('pods')) return [];
  const leaving = facts.all('Node').filter((node) => removalMark(node) !== undefined);
  return [...new Set([...scope.subjectNodes, ...leaving, ...illNodes])]
    .slice(0, 3)
    .map((node) => ({ fieldSelector: `spec.nodeName=${node.metadata.name}` }));
};

/** Nodes whose kubelet reports itself have renewed their leases too. */
const leaseWorth = ({ illNodes, alertSays }: Situation): number =>
  Math.max(illNodes.length > 0 ? 58 : 0, alertSays(/lease|node.?controller|KubeControllerManager/i) ? 40 : 0);

/** What new nodes are made from matters where they fail to come, or come ill. */
export const nodeClassWorth = ({ facts, says, families, illNodes }: Situation): number => {
  const isTold = [...facts.all('NodeClaim'), ...facts.all('NodePool')].some((object) =>
    (object.status?.conditions ?? []).some(({ status }: any) => status !== 'True'),
  );
  const isConcerned = families.some((family) => ['pending', 'node', 'provisioning', 'starting'].includes(family));
  return Math.max(
    isTold ? 60 : 0,
    illNodes.length > 0 ? 59 : 0,
    isConcerned ? 30 : 0,
    30 * says(/nodeclass|nodeclaim|launch|karpenter/i),
  );
};

/** Nodes and what makes them, the add-ons, and the neighbours of the subject. */
const candidates: Candidate[] = [
  { resource: resources.nodes, wave: 1, worth: () => 100 },
  { resource: resources.nodepools, wave: 1, worth: () => 96 },
  { resource: resources.nodeclaims, wave: 1, worth: () => 95 },
  { resource: resources.events, wave: 1, where: () => [{ namespace: 'default' }], worth: () => 92 },
  { resource: resources.events, wave: 1, where: () => [{ fieldSelector: 'type=Warning' }], worth: () => 90 },
  { resource: resources.pods, wave: 1, worth: () => 98 },
  { resource: resources.namespaces, wave: 1, worth: () => 70 },
  // A sweep that was cut short holds the first namespaces only.
  {
    resource: resources.pods,
    wave: 2,
    where: (s) => (s.isWhole('pods') ? [] : [{ namespace: 'kube-system' }]),
    worth: () => 85,
  },
  { resource: resources.pods, wave: 2, where: onTroubledNodes, worth: () => 62 },
  {
    resource: resources.events,
    wave: 2,
    where: () => [{ namespace: 'kube-system' }],
    worth: (s) => (isWide(s) ? 40 : 12),
  },
  { resource: resources.leases, wave: 2, where: () => [{ namespace: 'kube-node-lease' }], worth: leaseWorth },
  { resource: resources.ec2nodeclasses, wave: 2, worth: nodeClassWorth },
  { resource: resources.nodeclasses, wave: 2, worth: nodeClassWorth },
  { resource: resources.aksnodeclasses, wave: 2, worth: nodeClassWorth },
  {
    resource: resources.daemonsets,
    wave: 2,
    worth: (s) => Math.max(isWide(s) ? 50 : 0, 45 * s.says(/daemon|cni|csi|agent|node|sandbox|dns|lookup|device/i)),
  },
  { resource: resources.deployments, wave: 2, worth: (s) => (isWide(s) ? 0 : 40 * s.says(growthWords)) },
  { resource: resources.statefulsets, wave: 2, worth: (s) => (isWide(s) ? 20 : 0) },
  { resource: resources.replicasets, wave: 2, worth: (s) => (isWide(s) ? 0 : 20 * s.says(growthWords)) },
  { resource: resources.horizontalpodautoscalers, wave: 2, worth: (s) => (isWide(s) ? 0 : 35 * s.says(growthWords)) },
  {
    resource: resources.poddisruptionbudgets,
    wave: 2,
    worth: (s) => 42 * s.says(/drain|evict|disrupt|budget|terminat/i),
  },
  ...configMaps,
];

const metrics = [
  'karpenter_nodepools_usage',
  'karpenter_nodepools_limit',
  'karpenter_nodes_total_pod_requests',
  'karpenter_nodes_created_total',
  'karpenter_nodes_terminated_total',
  'karpenter_nodeclaims_created_total',
  'karpenter_nodeclaims_disrupted_total',
  'karpenter_cloudprovider_errors_total',
  'karpenter_interruption_received_messages_total',
  'karpenter_scheduler_queue_depth',
  'karpenter_cluster_state_synced',
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
  /^(karpenter|coredns|aws-node|cluster-autoscaler|ebs-csi|efs-csi|cilium|kube-proxy|konnectivity|metrics-server|kube-controller-manager|kube-scheduler|kube-apiserver|etcd|external-dns|aws-load-balancer|cert-manager|node-|ingress-nginx|nginx-ingress|traefik|istio-ingress|contour|envoy-gateway|kong)/;

/** Logs of controllers and agents, first of those in trouble and of those on the nodes where the trouble is. */
const logs = ({ facts, scope, namespaces }: Situation): RankedLog[] => {
  const nodes = new Set(scope.nodes.map((node) => node.metadata.name));
  const makers = new Set(bareCrowds(facts).flatMap(({ makers }) => makers.flatMap((maker) => facts.podsOf(maker))));
  const candidates = facts
    .all('Pod')
    .filter((pod) => (ownershipOf(facts, pod) === 'platform' || makers.has(pod)) && pod.spec?.nodeName);
  // The kubelet of a silent node serves no logs.
  const isUnreachable = (pod: KubeObject): boolean => isSilent(facts.nodeOf(pod));
  const isOn = (pod: KubeObject): boolean => nodes.has(pod.spec?.nodeName);
  const rank = (pod: KubeObject): number =>
    (isTroubled(pod) && !isUnreachable(pod) ? 0 : 4) +
    (isOn(pod) ? 0 : 2) +
    (controllers.test(pod.metadata.name) ? 0 : 1) +
    // The application's layer reads those.
    (namespaces.includes(pod.metadata.namespace ?? '') ? 5 : 0);
  const isAgent = (pod: KubeObject): boolean =>
    pod.metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
  return logsOf(
    facts,
    candidates,
    rank,
    (pod) => !isOn(pod),
    (pod) => rank(pod) < 6 || (controllers.test(pod.metadata.name) && !isAgent(pod)),
  );
};

const plan: Plan = { candidates, logs, maxLogs: 32, keptForNeeds: 0, keptForLogs: (s) => (isWide(s) ? 3 : 2) };

/** Layer 2: nodes and what makes them, add-ons, admission, and the neighbours of the subject. */
export const collectPlatform = async (collection: Collection): Promise<void> => {
  await Promise.all([followPlan(collection, plan), ...metrics.map((name) => collection.metric(name))]);
};
