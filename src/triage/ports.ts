import type { CloudAnswer, CloudWatchSeries, ContainerLog, Gap, ProbeAnswer, Series } from '../domain/facts.ts';
import type { KubeObject } from '../domain/kubernetes.ts';

/**
 * A read either answers, possibly cut short by a bound, or says why not and what would fix it. `free`: it cost no call,
 * since another one under way was joined or the answer was known.
 */
export type Read<T> = { ok: true; value: T; complete: boolean; free?: true } | { ok: false; gap: Gap; free?: true };

export interface ListOptions {
  /** Absent: all namespaces, or a cluster-scoped kind. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Upper bound of objects; the reader stops there and says `complete: false`. */
  limit: number;
}

/** A plural resource with its group, e.g. `{ group: 'karpenter.sh', version: 'v1', plural: 'nodepools', kind: 'NodePool' }`. */
export interface Resource {
  group: string;
  version: string;
  plural: string;
  kind: string;
}

/** Read-only Kubernetes. Secrets, exec, attach and proxy do not exist in this port. */
export interface KubernetesReader {
  get(resource: Resource, name: string, namespace?: string): Promise<Read<KubeObject>>;
  list(resource: Resource, options: ListOptions): Promise<Read<KubeObject[]>>;
  log(
    namespace: string,
    pod: string,
    container: string,
    options: { previous: boolean; tailLines: number },
  ): Promise<Read<string>>;
  probe(path: 'readyz' | 'livez'): Promise<Read<ProbeAnswer>>;
  /** Whether the cluster has this kind at all, as far as it tells; without a request of its own for each kind. */
  serves?(resource: Resource): Promise<boolean>;
  /** API requests made so far by this reader. */
  readonly calls: number;
}

export interface MetricQuery {
  name: string;
  matchers?: Record<string, string>;
  /** Unix seconds. */
  start: number;
  end: number;
  stepSeconds: number;
}

/** Series by name, matchers and range; rates and quantiles are computed from the answer. */
export interface MetricsReader {
  series(query: MetricQuery): Promise<Read<Series[]>>;
  /** Names of the metrics that have series with these labels in the range (Prometheus: label values of `__name__`). */
  names(query: Omit<MetricQuery, 'name' | 'stepSeconds'>): Promise<Read<string[]>>;
}

export interface CloudWatchQuery {
  namespace: string;
  metric: string;
  start: number;
  end: number;
}

/**
 * What of the cloud an incident touches, as the cluster's objects name it; the worst first. A reader asks about these
 * and never about the whole account.
 */
export interface CloudResources {
  namespaces: string[];
  /** EC2 instances behind the nodes and node claims concerned, those that are gone too. */
  instanceIds: string[];
  subnetIds: string[];
  securityGroupIds: string[];
  imageIds: string[];
  volumeIds: string[];
  nodegroups: string[];
  /** IAM roles of nodes, by name or ARN. */
  nodeRoles: string[];
  /** IAM roles of the pods' service accounts, by ARN. */
  podRoles: string[];
  /** The nodes' own role is refused by the cluster: it comes before the pods'. */
  nodeRoleRefused: boolean;
  /** Host names of the load balancers in front of the workloads. */
  loadBalancerHosts: string[];
  /** Image references of pods that do not start. */
  images: string[];
  /** Karpenter's interruption queues. */
  queues: string[];
  /** Error codes of failed launches, e.g. `VcpuLimitExceeded`. */
  launchErrors: string[];
}

/** The incident that a cloud reader is asked about. */
export interface CloudQuestion {
  /** ISO 8601: where the incident may have begun, and now. */
  since: string;
  until: string;
  /** Read from the cluster on first use; a reader that has recorded answers never needs it. */
  touched(): Promise<CloudResources>;
}

/**
 * Read-only cloud APIs by `service.operation`; a call that is not allowed is a `forbidden` gap, never empty, and one
 * that has nothing to ask about is `not-found`.
 */
export interface CloudReader {
  call(operation: string, question: CloudQuestion): Promise<Read<CloudAnswer>>;
  metrics(queries: CloudWatchQuery[], question: CloudQuestion): Promise<Read<CloudWatchSeries[]>>;
  readonly calls: number;
}

/** A log that the cluster does not serve any more: of a pod that is gone, or of a run before the present one. */
export interface PastLog {
  namespace: string;
  pod: string;
  /** Absent: of all the pod's containers. */
  container?: string;
  previous: boolean;
  /** ISO 8601: between these times. */
  since: string;
  until: string;
}

/** Where logs are kept beyond the lives of pods. The last lines of each container; none is an answer too. */
export interface PastLogsReader {
  read(wanted: PastLog): Promise<Read<ContainerLog[]>>;
}

/** Everything a triage of one cluster may read. A reader that is not set up is null. */
export interface ClusterReaders {
  kubernetes: KubernetesReader;
  metrics: MetricsReader | null;
  cloud: CloudReader | null;
  pastLogs?: PastLogsReader | null;
  /** API server calls that a triage may make over all its layers. Absent: a recorded cluster, whose reads cost nothing. */
  maxApiCalls?: number;
  /** "Now" for this cluster: the clock, or a snapshot's captured_at. */
  now(): string;
}
