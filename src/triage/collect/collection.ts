import type { Alert, Subject } from '../../domain/alert.ts';
import type { ClusterIdentity, FactSource, Facts, Gap, LayerFacts, Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { Layer } from '../../domain/layer.ts';
import { ClusterFacts } from '../../facts/cluster.ts';
import { toMs } from '../../facts/time.ts';
import type {
  CloudQuestion,
  CloudWatchQuery,
  ClusterReaders,
  ListOptions,
  MetricQuery,
  PastLog,
  Read,
  Resource,
} from '../ports.ts';
import { canServe } from '../resources.ts';
import { callsOf } from './budget.ts';
import { joinRanges } from './join-ranges.ts';
import { namesOf } from './metric-names.ts';
import { notConfigured, overBudget } from './unread.ts';

/** What a collection is about: enough to know where to look. */
export interface CollectionTarget {
  cluster: ClusterIdentity;
  subjects: Subject[];
  alerts: Alert[];
}

/** Objects of one list; one page of it, so that a list is one call. */
const maxObjects = 500;
/** Lines of a container's log that are read, from its end. */
const logTailLines = 400;
/** How far back metrics are read: the incident itself, and the former course it is compared with. */
export const recentHours = 6;
export const historyHours = 7 * 24;

/** A container's log, or the one it wrote before its last restart. */
export interface WantedLog {
  pod: KubeObject;
  container: string;
  previous: boolean;
}

/** Gathers what one layer reads. A read that fails becomes a gap and costs only its own evidence. */
export class Collection {
  readonly facts: LayerFacts;
  readonly target: CollectionTarget;
  /** Calls to the API server that the layer has left; Infinity where the cluster is a recorded one. */
  callsLeft: number;
  readonly #readers: ClusterReaders;
  /** Lists that hold all there is: `pods`, `pods in shop`. */
  readonly #whole = new Set<string>();

  constructor(layer: Layer, target: CollectionTarget, readers: ClusterReaders) {
    this.target = target;
    this.callsLeft = callsOf(layer, readers);
    this.#readers = readers;
    this.facts = {
      layer,
      cluster: target.cluster,
      readAt: readers.now(),
      objects: [],
      logs: [],
      series: [],
      cloudWatch: [],
      cloud: [],
      probes: [],
      reads: [],
      apiCalls: 0,
    };
  }

  async list(resource: Resource, options: Partial<ListOptions> = {}): Promise<void> {
    if (!canServe(this.target.cluster.provider, resource)) return;
    const read = await this.#readers.kubernetes.list(resource, { limit: this.#maxObjects, ...options });
    if (read.ok) for (const object of read.value) this.facts.objects.push(object);
    if (read.ok && read.complete && !options.labelSelector && !options.fieldSelector)
      this.#whole.add(`${resource.plural} in ${options.namespace ?? ''}`);
    this.#note('kubernetes', resource.plural, read, read.ok ? read.value.length : 0, options.namespace);
  }

  get #maxObjects(): number {
    return this.callsLeft === Infinity ? Infinity : maxObjects;
  }

  /** All objects of this kind were read, in this namespace or everywhere. */
  isWhole(plural: string, namespace = ''): boolean {
    return this.#whole.has(`${plural} in `) || this.#whole.has(`${plural} in ${namespace}`);
  }

  /** Kinds that the cluster is known not to have: to look for them asks nothing of it. */
  async absent(wanted: Resource[]): Promise<Set<Resource>> {
    const { kubernetes } = this.#readers;
    const { provider } = this.target.cluster;
    const distinct = [...new Set(wanted)];
    const isServed = await Promise.all(
      distinct.map(async (resource) => canServe(provider, resource) && (await kubernetes.serves?.(resource)) !== false),
    );
    return new Set(distinct.filter((_, index) => !isServed[index]));
  }

  /** Notes which of these plural resources nothing gave a reason to read. */
  skipped(candidates: string[]): void {
    const asked = new Set(this.facts.reads.map(({ what }) => what));
    this.facts.skipped = [...new Set(candidates)].filter((what) => !asked.has(what));
  }

  /** A read that the triage's calls did not suffice for. */
  unread(resource: Resource, what: string, namespace?: string): void {
    const gap = overBudget(what, this.#readers.maxApiCalls ?? 0);
    this.facts.reads.push({ source: 'kubernetes', what: resource.plural, namespace, gap, complete: false, count: 0 });
  }

  async get(resource: Resource, name: string, namespace?: string): Promise<void> {
    const read = await this.#readers.kubernetes.get(resource, name, namespace);
    if (read.ok) this.facts.objects.push(read.value);
    // An object that does not exist is an answer, and it says nothing about the kind.
    if (read.ok || read.gap.reason !== 'not-found') this.#note('kubernetes', resource.plural, read, 1, namespace);
    else this.#spend('kubernetes', read);
  }

  /**
   * Logs in this order, until so many were asked of the cluster. A snapshot holds only some; one that it lacks costs
   * no call, so the next in line is read instead.
   */
  async logs(wanted: WantedLog[], most: number): Promise<void> {
    let left = most;
    for (let at = 0; at < wanted.length && left > 0; ) {
      const batch = wanted.slice(at, at + left);
      at += batch.length;
      const asked = await Promise.all(batch.map((entry) => this.#log(entry)));
      left -= asked.filter(Boolean).length;
    }
  }

  async #log({ pod, container, previous }: WantedLog): Promise<boolean> {
    const { namespace = 'default', name } = pod.metadata;
    const read = await this.#readers.kubernetes.log(namespace, name, container, { previous, tailLines: logTailLines });
    if (!read.ok && read.gap.reason === 'not-collected') return false;
    if (read.ok && read.value) this.facts.logs.push({ namespace, pod: name, container, previous, text: read.value });
    this.#note('log', `${namespace}/${name}/${container}`, read, 1, namespace);
    return true;
  }

  /** A log that the cluster's log store may still have; it costs none of the cluster's calls. */
  async pastLog(wanted: PastLog): Promise<void> {
    const read = await this.#readers.pastLogs?.read(wanted);
    if (!read) return;
    if (read.ok) this.facts.logs.push(...read.value);
    const { namespace, pod } = wanted;
    this.#note('log-store', `${namespace}/${pod}`, { ...read, free: true }, read.ok ? read.value.length : 0, namespace);
  }

  async probe(path: 'readyz' | 'livez'): Promise<void> {
    const read = await this.#readers.kubernetes.probe(path);
    if (read.ok) this.facts.probes.push(read.value);
    this.#note('probe', path, read, 1);
  }

  /**
   * One metric over the last week. Two resolutions: every minute where the incident is, every five minutes before,
   * which is as far apart as a scrape may be without its value being lost.
   */
  async metric(name: string, matchers: Record<string, string> = {}): Promise<void> {
    const reads = await Promise.all(namesOf(name).map((one) => this.#bothRanges(one, matchers)));
    const series = reads.flatMap((read) => (read.ok ? read.value : []));
    this.facts.series.push(...series.map((one) => ({ ...one, name })));
    const told = reads.find((read) => read.ok && read.value.length > 0) ?? reads[0]!;
    this.#note('metrics', name, told, series.length);
  }

  async #bothRanges(name: string, matchers: Record<string, string>): Promise<Read<Series[]>> {
    const end = toMs(this.facts.readAt) / 1000;
    const recent = end - recentHours * 3600;
    const [near, far] = await Promise.all([
      this.#series({ name, matchers, start: recent, end, stepSeconds: 60 }),
      this.#series({ name, matchers, start: end - historyHours * 3600, end: recent - 60, stepSeconds: 300 }),
    ]);
    if (!near.ok && !far.ok) return near;
    const value = joinRanges(far.ok ? far.value : [], near.ok ? near.value : []);
    return { ok: true, complete: near.ok && near.complete, value };
  }

  /** Names of a namespace's own metrics. */
  async metricNames(matchers: Record<string, string>): Promise<string[]> {
    const end = toMs(this.facts.readAt) / 1000;
    const read = await this.#readers.metrics?.names({ matchers, start: end - historyHours * 3600, end });
    return read?.ok ? read.value : [];
  }

  async #series(query: MetricQuery): Promise<Read<Series[]>> {
    return this.#readers.metrics
      ? this.#readers.metrics.series(query)
      : notConfigured(
          'no Prometheus is configured for this cluster',
          'set PROMETHEUS_URL, or prometheusUrl of the cluster',
        );
  }

  async cloud(operation: string, question: CloudQuestion): Promise<void> {
    const read = this.#readers.cloud
      ? await this.#readers.cloud.call(operation, question)
      : notConfigured(
          `no credentials for the cloud API ${operation}`,
          'give Faultline AWS credentials or the cluster a role (docs/aws.md), or look in the AWS console',
        );
    if (read.ok) this.facts.cloud.push(read.value);
    this.#note('aws', operation, read, 1);
  }

  async cloudMetrics(queries: CloudWatchQuery[], question: CloudQuestion): Promise<void> {
    if (!this.#readers.cloud) return;
    const read = await this.#readers.cloud.metrics(queries, question);
    if (read.ok) this.facts.cloudWatch.push(...read.value);
    this.#note('cloudwatch', 'metrics', read, read.ok ? read.value.length : 0);
  }

  /** What a look aside finds decides what to ask; only its calls are counted, and nothing of it is kept. */
  async aside<T>(calls: number, look: (collection: Collection) => Promise<T>): Promise<T> {
    const collection = new Collection(this.facts.layer, this.target, this.#readers);
    if (this.callsLeft !== Infinity) collection.callsLeft = calls;
    this.callsLeft -= calls;
    const found = await look(collection);
    this.facts.apiCalls += collection.facts.apiCalls;
    return found;
  }

  /** The facts so far as rules would see them: to decide what to read next. */
  view(): ClusterFacts {
    return new ClusterFacts(unite([this.facts], this.target, this.facts.readAt));
  }

  #spend(source: FactSource, { free }: Read<unknown>): void {
    if (free || source === 'metrics') return;
    this.facts.apiCalls += 1;
    if (ofApiServer.has(source)) this.callsLeft -= 1;
  }

  #note(source: FactSource, what: string, read: Read<unknown>, count: number, namespace?: string): void {
    const gap: Gap | undefined = read.ok ? undefined : read.gap;
    this.#spend(source, read);
    this.facts.reads.push({
      source,
      what,
      namespace,
      complete: read.ok && read.complete,
      count: gap ? 0 : count,
      ...(gap ? { gap } : {}),
    });
  }
}

const ofApiServer: ReadonlySet<FactSource> = new Set(['kubernetes', 'log', 'probe']);

/**
 * The union of layers and runs. Later readings of an object replace earlier ones; events, logs and answers are
 * added, so that an expired event cannot weaken what was proven with it.
 */
export const unite = (batches: LayerFacts[], target: CollectionTarget, now: string): Facts => {
  const objects = new Map<string, KubeObject>();
  const keyed = <T>(list: T[], key: (item: T) => string): T[] => [
    ...new Map(list.map((item) => [key(item), item])).values(),
  ];
  for (const object of batches.flatMap((batch) => batch.objects)) {
    const { namespace = '', name, uid = '' } = object.metadata;
    objects.set(`${object.apiVersion}/${object.kind}/${namespace}/${name}/${uid}`, object);
  }
  return {
    now,
    cluster: target.cluster,
    subject: target.subjects[0] ?? { cluster: target.cluster.name, kind: 'Cluster' },
    subjects: target.subjects,
    alerts: target.alerts,
    objects: [...objects.values()],
    logs: keyed(
      batches.flatMap((batch) => batch.logs),
      (log) => `${log.namespace}/${log.pod}/${log.container}/${log.previous}`,
    ),
    series: keyed(
      batches.flatMap((batch) => batch.series),
      (series) => series.name + JSON.stringify(series.labels),
    ),
    cloudWatch: keyed(
      batches.flatMap((batch) => batch.cloudWatch),
      (series) => `${series.namespace}/${series.metric}/${series.stat}/${JSON.stringify(series.dimensions)}`,
    ),
    cloud: keyed(
      batches.flatMap((batch) => batch.cloud),
      (answer) => answer.call,
    ),
    probes: keyed(
      batches.flatMap((batch) => batch.probes),
      (probe) => probe.path,
    ),
    reads: batches.flatMap((batch) => batch.reads),
    apiCalls: batches.reduce((sum, batch) => sum + batch.apiCalls, 0),
  };
};
