import type { KubeObject } from '../../domain/kubernetes.ts';
import { isTroubled } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { resources } from '../resources.ts';
import { changes } from './changes.ts';
import type { Collection } from './collection.ts';
import { logsOf, type RankedLog } from './logs.ts';
import { inOwn, needs } from './needs.ts';
import { collectPastLogs } from './past-logs.ts';
import { type Candidate, followPlan, type Place, type Plan } from './plan.ts';
import type { Situation } from './situation.ts';

const isNarrow = ({ namespaces }: Situation): boolean => namespaces.length > 0;

/** The nodes where the incident's pods are in trouble, the one with most of them first. */
const troubledNodes = ({ troubled }: Situation): string[] => {
  const byNode = Map.groupBy(
    troubled.filter((pod) => pod.spec?.nodeName),
    (pod) => pod.spec.nodeName as string,
  );
  return [...byNode].sort(([, a], [, b]) => b.length - a.length).map(([name]) => name);
};

/** What else runs on the node where most of the trouble is. */
const neighbours = (situation: Situation): Place[] =>
  troubledNodes(situation)
    .slice(0, 1)
    .map((name) => ({ fieldSelector: `spec.nodeName=${name}` }));

/** Trouble on one node while pods run on others points at the node; so do words of what nodes share. */
const neighbourWorth = (situation: Situation): number => {
  const nodes = new Set(situation.scope.pods.map((pod) => pod.spec?.nodeName).filter(Boolean));
  const isOnOne = nodes.size > 1 && troubledNodes(situation).length === 1;
  return Math.max(isOnOne ? 57 : 0, 30 * situation.says(/evict|pressure|\bOOM|sandbox|not ?ready|taint|throttl|disk/i));
};

/** A node's pods are found by its name, before the node itself is known. */
const onSubjectNodes = ({ facts }: Situation): Place[] =>
  facts.subjects
    .filter(({ kind, name }) => kind === 'Node' && name)
    .map(({ name }) => ({ fieldSelector: `spec.nodeName=${name}` }));

/** What lies around a workload in its namespace, or everywhere where the incident has none. */
const basics: Candidate[] = [
  { resource: resources.pods, wave: 1, where: inOwn, worth: () => 100 },
  { resource: resources.events, wave: 1, where: inOwn, worth: () => 98 },
  { resource: resources.deployments, wave: 1, where: inOwn, worth: () => 90 },
  { resource: resources.replicasets, wave: 1, where: inOwn, worth: () => 88 },
  { resource: resources.pods, wave: 1, worth: (s) => (isNarrow(s) ? 0 : 100) },
  { resource: resources.deployments, wave: 1, worth: (s) => (isNarrow(s) ? 0 : 80) },
  { resource: resources.replicasets, wave: 1, worth: (s) => (isNarrow(s) ? 0 : 78) },
  {
    resource: resources.events,
    wave: 1,
    where: () => [{ fieldSelector: 'type=Warning' }],
    worth: (s) => (isNarrow(s) ? 0 : 98),
  },
  { resource: resources.workflows, wave: 2, worth: (s) => (isNarrow(s) ? 0 : 20) },
  { resource: resources.pods, wave: 1, where: onSubjectNodes, worth: () => 99 },
  { resource: resources.pods, wave: 2, where: neighbours, worth: neighbourWorth },
];

const metrics = [
  'container_memory_working_set_bytes',
  'container_cpu_usage_seconds_total',
  'container_cpu_cfs_throttled_periods_total',
  'container_cpu_cfs_periods_total',
  'container_cpu_cfs_throttled_ratio',
  'container_oom_events_total',
  'kubelet_volume_stats_available_bytes',
  'kubelet_volume_stats_capacity_bytes',
  'container_processes',
  'container_threads',
  'container_network_receive_bytes_total',
  'container_network_transmit_bytes_total',
  'kube_pod_container_status_restarts_total',
  'kube_deployment_status_replicas',
  'kube_deployment_spec_replicas',
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
  /latency|duration|error|fail|ratio|requests?|queue|lag|depth|backlog|sessions?|connections?|heap|gc_|lookup|drop|reject|timeout|rate|commit|consumed|processed|produced|published/;
/** Prefixes of what Kubernetes and the usual exporters measure: read by name where a rule needs it. */
const clusterMetric =
  /^(kube_|kubelet_|container_|node_|apiserver_|etcd_|karpenter_|coredns_|awscni_|rest_client_|workqueue_|go_|process_|prometheus_|scrape_)/;
const maxOwnMetrics = 24;
const maxNamespaces = 4;

/** A pod this young may run what was released before the incident. */
const newMinutes = 24 * 60;

/**
 * Logs of the subject's pods, the troubled ones first; those of the whole namespace after them. Where the whole cluster
 * is the subject, what was rolled out last speaks first, and each workload gets a word.
 */
const logs = ({ facts, scope }: Situation): RankedLog[] => {
  const own = new Set(scope.pods);
  const age = (pod: KubeObject): string => (own.size > 0 ? '' : (pod.metadata.creationTimestamp ?? ''));
  const candidates = facts
    .all('Pod')
    .filter((pod) => pod.spec?.nodeName)
    .sort((a, b) => (age(b) > age(a) ? 1 : age(b) < age(a) ? -1 : 0));
  const rank = (pod: KubeObject): number => (own.has(pod) ? 0 : 2) + (isTroubled(pod) ? 0 : 1);
  const isNew = (pod: KubeObject): boolean => minutesBetween(pod.metadata.creationTimestamp, facts.now) < newMinutes;
  return logsOf(
    facts,
    candidates,
    rank,
    () => own.size === 0,
    (pod) => rank(pod) < 3 || isNew(pod),
  );
};

const plan: Plan = {
  candidates: [...basics, ...needs, ...changes],
  logs,
  maxLogs: 24,
  keptForNeeds: 3,
  keptForLogs: (s) => (isNarrow(s) ? 3 : 5),
};

/** Layer 3: the subject's namespace, what it leans on, its logs, and what the application itself measures. */
export const collectApp = async (collection: Collection): Promise<void> => {
  const namespaces = namespacesOf(collection);
  await Promise.all([
    followPlan(collection, plan).then(() => collectPastLogs(collection)),
    ...metrics.map((name) => collection.metric(name)),
    ...(namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}]).map((matchers) =>
      ownMetrics(collection, matchers),
    ),
  ]);
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
