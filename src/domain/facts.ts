import type { Alert, Subject } from './alert.ts';
import type { KubeObject } from './kubernetes.ts';
import type { Layer, Provider } from './layer.ts';

/** The cluster an incident is in, as configuration or a snapshot names it. */
export interface ClusterIdentity {
  name: string;
  provider: Provider;
  region?: string;
  account?: string;
}

/**
 * Why something could not be read. `not-collected`: the snapshot lacks the kind; `not-configured`: no reader set up;
 * `over-budget`: the triage's API calls were spent on what tells more.
 */
export type GapReason =
  | 'forbidden'
  | 'failed'
  | 'timeout'
  | 'not-collected'
  | 'not-configured'
  | 'not-found'
  | 'over-budget';

export interface Gap {
  reason: GapReason;
  message: string;
  /** The permission to grant or the setting to add. */
  fix: string;
}

export type FactSource = 'kubernetes' | 'log' | 'log-store' | 'probe' | 'metrics' | 'cloudwatch' | 'aws' | 'cloud-api';

/** One read that was tried. `what` is a plural resource (`pods`), a log (`ns/pod/container`), a metric or an API call. */
export interface ReadRecord {
  source: FactSource;
  what: string;
  namespace?: string;
  gap?: Gap;
  /** False when a bound cut the answer short. */
  complete: boolean;
  count: number;
}

export interface ContainerLog {
  namespace: string;
  pod: string;
  container: string;
  previous: boolean;
  text: string;
  /** The log store that it was read from, where the cluster did not have it any more. */
  store?: LogStore;
}

export interface LogStore {
  name: 'Loki' | 'CloudWatch Logs';
  /** The command line that shows it again. */
  reproduce: string;
}

export interface Series {
  name: string;
  labels: Record<string, string>;
  /** [unix seconds, value], oldest first. */
  points: [number, number][];
}

export interface CloudWatchSeries {
  namespace: string;
  metric: string;
  dimensions: Record<string, string>;
  stat: string;
  periodSeconds: number;
  points: [string, number][];
}

export interface CloudAnswer {
  /** `service.operation`, e.g. `ec2.describeInstanceStatus`. */
  call: string;
  answer: unknown;
}

export interface ProbeAnswer {
  path: 'readyz' | 'livez';
  status: number;
  body: string;
  latencyMs: number;
}

/** What one layer's collection read. Serialisable; kept with the incident. */
export interface LayerFacts {
  layer: Layer;
  cluster: ClusterIdentity;
  readAt: string;
  objects: KubeObject[];
  logs: ContainerLog[];
  series: Series[];
  cloudWatch: CloudWatchSeries[];
  cloud: CloudAnswer[];
  probes: ProbeAnswer[];
  reads: ReadRecord[];
  /** Plural resources that nothing in the incident gave a reason to read. */
  skipped?: string[];
  apiCalls: number;
}

/** The union over the layers that the rules judge. */
export interface Facts extends Omit<LayerFacts, 'layer' | 'readAt'> {
  /** The incident's "now": the live clock, or a snapshot's `captured_at`. */
  now: string;
  /** The primary subject. */
  subject: Subject;
  /** What each firing alert is about, the primary one first. */
  subjects: Subject[];
  alerts: Alert[];
}
