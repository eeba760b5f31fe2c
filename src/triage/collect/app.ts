import type { KubeObject } from '../../domain/kubernetes.ts';
import { isTroubled } from '../../facts/pods.ts';
import { scopeOf } from '../../facts/scope.ts';
import { resources } from '../resources.ts';
import type { Collection, WantedLog } from './collection.ts';
import { logsWanted, spread } from './platform.ts';

/** What lies around a workload in its namespace. */
const namespaced = [
  resources.pods,
  resources.events,
  resources.deployments,
  resources.replicasets,
  resources.statefulsets,
  resources.daemonsets,
  resources.jobs,
  resources.cronjobs,
  resources.services,
  resources.endpointslices,
  resources.ingresses,
  resources.persistentvolumeclaims,
  resources.horizontalpodautoscalers,
  resources.verticalpodautoscalers,
  resources.scaledobjects,
  resources.poddisruptionbudgets,
  resources.resourcequotas,
  resources.limitranges,
  resources.serviceaccounts,
  resources.networkpolicies,
  resources.certificates,
  resources.rolebindings,
  resources.externalsecrets,
  resources.localqueues,
  resources.queuedworkloads,
];

/** Without a namespace of its own, the subject's apps are looked for everywhere, in bounded calls. */
const clusterWide = [
  resources.pods,
  resources.deployments,
  resources.replicasets,
  resources.jobs,
  resources.cronjobs,
  resources.horizontalpodautoscalers,
  resources.services,
  resources.workflows,
];

const metrics = [
  'container_memory_working_set_bytes',
  'container_cpu_usage_seconds_total',
  'container_cpu_cfs_throttled_periods_total',
  'container_cpu_cfs_periods_total',
  'container_oom_events_total',
  'kubelet_volume_stats_available_bytes',
  'kubelet_volume_stats_capacity_bytes',
  'container_processes',
  'container_threads',
  'container_network_receive_bytes_total',
  'container_network_transmit_bytes_total',
  'kube_pod_container_status_restarts_total',
  'kube_deployment_status_replicas',
  'kube_horizontalpodautoscaler_status_desired_replicas',
  'http_requests_total',
  'http_server_request_duration_seconds:p99',
  'istio_requests_total:error_ratio1m',
  'namespace:container_cpu_usage:sum_rate5m',
  'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m',
  'nginx_ingress_controller_request_duration_seconds:p99',
  'nginx_ingress_controller_requests:error_ratio5m',
  'probe_duration_seconds',
];

const telling =
  /latency|duration|error|fail|ratio|requests?|queue|lag|depth|backlog|sessions?|connections?|heap|gc_|lookup|drop|reject|timeout|rate/;
/** Prefixes of what Kubernetes and the usual exporters measure: read by name where a rule needs it. */
const clusterMetric =
  /^(kube_|kubelet_|container_|node_|apiserver_|etcd_|karpenter_|coredns_|awscni_|rest_client_|workqueue_|go_|process_|prometheus_|scrape_)/;
const maxOwnMetrics = 24;
const maxLogs = 24;
const maxNamespaces = 4;

/** Layer 3: the subject's namespace, its workloads' logs, and what the application itself measures. */
export const collectApp = async (collection: Collection): Promise<void> => {
  const namespaces = namespacesOf(collection);
  await Promise.all([
    ...namespaces.flatMap((namespace) => namespaced.map((resource) => collection.list(resource, { namespace }))),
    ...(namespaces.length === 0 ? clusterWide.map((resource) => collection.list(resource)) : []),
    ...metrics.map((name) => collection.metric(name)),
    ...(namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}]).map((matchers) =>
      ownMetrics(collection, matchers),
    ),
  ]);
  await collection.logs(logs(collection), maxLogs);
};

/** What the application measures of itself under names of its own: latency, errors, load, queues. */
const ownMetrics = async (collection: Collection, matchers: Record<string, string>): Promise<void> => {
  const names = await collection.metricNames(matchers);
  const own = names
    .filter((name) => telling.test(name) && !clusterMetric.test(name) && !metrics.includes(name))
    .slice(0, maxOwnMetrics);
  await Promise.all(own.map((name) => collection.metric(name, matchers)));
};

const namespacesOf = (collection: Collection): string[] => {
  const named = collection.target.subjects.map((subject) =>
    subject.kind === 'Namespace' ? subject.name : subject.namespace,
  );
  return [...new Set(named.filter((namespace) => namespace !== undefined))].slice(0, maxNamespaces);
};

/** Logs of the subject's pods, the troubled ones first; those of the whole namespace after them. */
const logs = (collection: Collection): WantedLog[] => {
  const facts = collection.view();
  const scope = scopeOf(facts);
  const own = new Set(scope.pods);
  const rank = (pod: KubeObject): number => (own.has(pod) ? 0 : 2) + (isTroubled(pod) ? 0 : 1);
  const age = (pod: KubeObject): string => (own.size > 0 ? '' : (pod.metadata.creationTimestamp ?? ''));
  const candidates = facts
    .all('Pod')
    .filter((pod) => pod.spec?.nodeName)
    .sort((a, b) => rank(a) - rank(b) || (age(b) > age(a) ? 1 : age(b) < age(a) ? -1 : 0));
  // Where the whole cluster is the subject, what was rolled out last speaks first, and each workload gets a word.
  return (own.size > 0 ? candidates : spread(facts, candidates, new Set())).flatMap(logsWanted);
};
