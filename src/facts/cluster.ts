import type { Alert, Subject } from '../domain/alert.ts';
import type {
  CloudWatchSeries,
  ClusterIdentity,
  ContainerLog,
  Facts,
  Gap,
  ProbeAnswer,
  ReadRecord,
  Series,
} from '../domain/facts.ts';
import type { KubeObject, ObjectRef } from '../domain/kubernetes.ts';
import { ClusterObjects } from './cluster-objects.ts';
import { Keyed } from './keyed.ts';
import { lazily } from './lazy.ts';
import { sortedBy } from './order.ts';

/** The facts of one incident, indexed. Order never depends on the order in which things were read. */
export class ClusterFacts extends ClusterObjects {
  readonly now: string;
  readonly identity: ClusterIdentity;
  readonly subject: Subject;
  readonly subjects: Subject[];
  readonly alerts: Alert[];
  readonly logs: ContainerLog[];
  readonly reads: ReadRecord[];
  readonly #facts: Facts;
  readonly #logsByPod = lazily(() => {
    const found = new Keyed<ContainerLog[]>();
    for (const log of this.logs) found.at(log.pod, log.namespace, '', () => []).push(log);
    return found;
  });
  readonly #seriesByName = lazily(() => Map.groupBy(sortedBy(this.#facts.series, seriesKey), (series) => series.name));
  /** CloudWatch answers newest first unless asked otherwise (GetMetricData's ScanBy); courses are read oldest first. */
  readonly #cloudWatch = lazily(() =>
    this.#facts.cloudWatch.map((series) => ({ ...series, points: sortedBy(series.points, ([at]) => at) })),
  );
  readonly #seriesLike = new Map<RegExp, Series[]>();
  readonly #readsByWhat = lazily(() => Map.groupBy(this.reads, (read) => read.what));

  constructor(facts: Facts) {
    super(facts.objects);
    this.#facts = facts;
    this.now = facts.now;
    this.identity = facts.cluster;
    this.subject = facts.subject;
    this.subjects = facts.subjects;
    this.alerts = facts.alerts;
    this.reads = sortedBy(facts.reads, readKey);
    this.logs = sortedBy(facts.logs, logKey);
  }

  logsOf(pod: ObjectRef | KubeObject): ContainerLog[] {
    const { name, namespace } = 'metadata' in pod ? pod.metadata : pod;
    return this.#logsByPod().get(name, namespace ?? '', '') ?? [];
  }

  /** Series of a metric whose labels hold all the given values. */
  series(name: string, labels: Record<string, string> = {}): Series[] {
    const wanted = Object.entries(labels);
    return (this.#seriesByName().get(name) ?? []).filter((series) =>
      wanted.every(([key, value]) => series.labels[key] === value),
    );
  }

  /** Series whose metric name matches, whatever the recording rules are called. */
  seriesLike(name: RegExp): Series[] {
    let found = this.#seriesLike.get(name);
    if (!found) {
      found = [...this.#seriesByName()].flatMap(([known, series]) => (name.test(known) ? series : []));
      this.#seriesLike.set(name, found);
    }
    return found;
  }

  cloudWatch(namespace: string, metric: string): CloudWatchSeries[] {
    const found = this.#cloudWatch().filter((series) => series.namespace === namespace && series.metric === metric);
    return sortedBy(found, (series) => JSON.stringify(series.dimensions));
  }

  /** The answer of a cloud call; undefined when it was not made or not allowed. */
  cloud(call: string): any {
    return this.#facts.cloud.find((answer) => answer.call === call)?.answer;
  }

  /** Names of all cloud calls that answered. */
  get cloudCalls(): string[] {
    return this.#facts.cloud.map((answer) => answer.call).sort();
  }

  probe(path: ProbeAnswer['path']): ProbeAnswer | undefined {
    return this.#facts.probes.find((probe) => probe.path === path);
  }

  /** True when a read of this resource, log, metric or call succeeded (perhaps empty). */
  wasRead(what: string, namespace?: string): boolean {
    return this.#readsOf(what, namespace).some((read) => !read.gap);
  }

  /** Why this could not be read; undefined when some read of it succeeded or none was tried. */
  gapOf(what: string, namespace?: string): Gap | undefined {
    const reads = this.#readsOf(what, namespace);
    return reads.some((read) => !read.gap) ? undefined : reads.find((read) => read.gap)?.gap;
  }

  #readsOf(what: string, namespace?: string): ReadRecord[] {
    return (this.#readsByWhat().get(what) ?? []).filter(
      (read) => !namespace || !read.namespace || read.namespace === namespace,
    );
  }
}

const readKey = ({ source, what, namespace = '', gap }: ReadRecord): string =>
  [source, what, namespace, gap ? `${gap.reason} ${gap.message}` : ''].join(' ');
const logKey = (log: ContainerLog): string => `${log.namespace}/${log.pod}/${log.container}/${log.previous}`;
const seriesKey = (series: Series): string => series.name + JSON.stringify(series.labels);
