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
import { type KubeEvent, type KubeObject, keyOf, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import { toEvent } from './events.ts';
import { selects } from './selectors.ts';

/** The facts of one incident, indexed. Order never depends on the order in which objects were read. */
export class ClusterFacts {
  readonly now: string;
  readonly identity: ClusterIdentity;
  readonly subject: Subject;
  readonly subjects: Subject[];
  readonly alerts: Alert[];
  readonly logs: ContainerLog[];
  readonly reads: ReadRecord[];
  readonly events: KubeEvent[];
  readonly #facts: Facts;
  readonly #byKind = new Map<string, KubeObject[]>();
  readonly #byNamespace = new Map<string, KubeObject[]>();
  readonly #podsByNode = new Map<string, KubeObject[]>();
  readonly #byKey = new Map<string, KubeObject>();
  readonly #byUid = new Map<string, KubeObject>();
  readonly #eventsByKey = new Map<string, KubeEvent[]>();
  readonly #children = new Map<string, KubeObject[]>();

  constructor(facts: Facts) {
    this.#facts = facts;
    this.now = facts.now;
    this.identity = facts.cluster;
    this.subject = facts.subject;
    this.subjects = facts.subjects;
    this.alerts = facts.alerts;
    this.reads = facts.reads;
    this.logs = sortedBy(facts.logs, logKey);
    const objects = sortedBy(facts.objects, sortKey);
    for (const object of objects) this.#index(object);
    for (const pod of this.all('Pod')) this.#adopt(pod);
    this.events = this.all('Event').map(toEvent).sort(byTimeThenText);
    for (const event of this.events) push(this.#eventsByKey, keyOf(event.regarding), event);
  }

  /** Kinds of which at least one object was read. */
  get kinds(): string[] {
    return [...this.#byKind.keys()].sort();
  }

  /** All objects of a kind, by namespace and name. */
  all(kind: string): KubeObject[] {
    return this.#byKind.get(kind) ?? [];
  }

  in(kind: string, namespace: string): KubeObject[] {
    return this.#byNamespace.get(`${kind}/${namespace}`) ?? [];
  }

  find(kind: string, name: string | undefined, namespace?: string): KubeObject | undefined {
    return name ? this.#byKey.get(keyOf({ kind, name, namespace })) : undefined;
  }

  resolve(ref: ObjectRef): KubeObject | undefined {
    return (ref.uid ? this.#byUid.get(ref.uid) : undefined) ?? this.#byKey.get(keyOf(ref));
  }

  /**
   * Events about an object. By uid where both have one, since names are used again; Node events carry the node's
   * name or nothing as uid, depending on the kubelet's version, so they go by name.
   */
  eventsOf(ref: ObjectRef, reason?: string): KubeEvent[] {
    return (this.#eventsByKey.get(keyOf(ref)) ?? []).filter(
      (event) =>
        (!reason || event.reason === reason) &&
        (ref.kind === 'Node' || !event.regarding.uid || !ref.uid || event.regarding.uid === ref.uid),
    );
  }

  /** Events about an object itself. */
  eventsAbout(object: KubeObject, reason?: string): KubeEvent[] {
    return this.eventsOf(refOf(object), reason);
  }

  /** The controlling owner, or an object that stands for it when only the reference is known. */
  ownerOf(object: KubeObject): KubeObject | undefined {
    const references = object.metadata.ownerReferences ?? [];
    const reference = references.find((entry) => entry.controller) ?? references[0];
    if (!reference) return undefined;
    const namespace = reference.kind === 'Node' ? undefined : object.metadata.namespace;
    return (
      this.resolve({ ...reference, namespace }) ??
      this.#deploymentBehind(reference, namespace) ?? {
        apiVersion: reference.apiVersion,
        kind: reference.kind,
        metadata: { name: reference.name, uid: reference.uid, namespace },
      }
    );
  }

  /** The object itself and its owners, innermost first. */
  ownerChain(object: KubeObject): KubeObject[] {
    const chain = [object];
    for (let next = this.ownerOf(object); next && chain.length < 6; next = this.ownerOf(next)) chain.push(next);
    return chain;
  }

  /** The workload a person would name: Deployment rather than ReplicaSet, CronJob rather than Job. */
  workloadOf(object: KubeObject): KubeObject {
    const chain = this.ownerChain(object).filter((link) => link.kind !== 'Node');
    return chain[chain.length - 1] ?? object;
  }

  /** Objects whose controlling owner this is. */
  childrenOf(object: KubeObject): KubeObject[] {
    return this.#children.get(object.metadata.uid ?? keyOf(refOf(object))) ?? [];
  }

  /** All pods below a workload, through ReplicaSets and Jobs. References written by hand may form a circle. */
  podsOf(workload: KubeObject, above: KubeObject[] = []): KubeObject[] {
    if (workload.kind === 'Pod') return [workload];
    if (above.includes(workload)) return [];
    return this.childrenOf(workload).flatMap((child) => this.podsOf(child, [...above, workload]));
  }

  podsOn(nodeName: string): KubeObject[] {
    return this.#podsByNode.get(nodeName) ?? [];
  }

  nodeOf(pod: KubeObject): KubeObject | undefined {
    return this.find('Node', pod.spec?.nodeName);
  }

  /** The NodeClaim behind a node: by status.nodeName, else by providerID. */
  claimOf(node: KubeObject): KubeObject | undefined {
    return this.all('NodeClaim').find(
      (claim) =>
        claim.status?.nodeName === node.metadata.name ||
        (claim.status?.providerID && claim.status.providerID === node.spec?.providerID),
    );
  }

  /** Services whose selector matches the pod's labels. */
  servicesOf(pod: KubeObject): KubeObject[] {
    return this.in('Service', pod.metadata.namespace ?? '').filter(
      (service) => service.spec?.selector && selects({ matchLabels: service.spec.selector }, pod.metadata.labels),
    );
  }

  logsOf(pod: ObjectRef | KubeObject): ContainerLog[] {
    const { name, namespace } = 'metadata' in pod ? pod.metadata : pod;
    return this.logs.filter((log) => log.pod === name && log.namespace === namespace);
  }

  /** Series of a metric whose labels hold all the given values. */
  series(name: string, labels: Record<string, string> = {}): Series[] {
    return this.#facts.series
      .filter(
        (series) =>
          series.name === name && Object.entries(labels).every(([key, value]) => series.labels[key] === value),
      )
      .sort((a, b) => compare(JSON.stringify(a.labels), JSON.stringify(b.labels)));
  }

  /** Series whose metric name matches, whatever the recording rules are called. */
  seriesLike(name: RegExp): Series[] {
    return this.#facts.series
      .filter((series) => name.test(series.name))
      .sort((a, b) => compare(a.name + JSON.stringify(a.labels), b.name + JSON.stringify(b.labels)));
  }

  cloudWatch(namespace: string, metric: string): CloudWatchSeries[] {
    return this.#facts.cloudWatch
      .filter((series) => series.namespace === namespace && series.metric === metric)
      .sort((a, b) => compare(JSON.stringify(a.dimensions), JSON.stringify(b.dimensions)));
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

  /** Where ReplicaSets could not be read: a Deployment's are named `‹deployment›-‹pod-template-hash›`. */
  #deploymentBehind(reference: ObjectRef, namespace: string | undefined): KubeObject | undefined {
    return reference.kind === 'ReplicaSet'
      ? this.find('Deployment', reference.name.replace(/-[^-]+$/, ''), namespace)
      : undefined;
  }

  /** Pods of a ReplicaSet that was not read count as its Deployment's own. */
  #adopt(pod: KubeObject): void {
    const owner = this.ownerOf(pod);
    if (owner?.kind === 'Deployment') push(this.#children, owner.metadata.uid ?? keyOf(refOf(owner)), pod);
  }

  #readsOf(what: string, namespace?: string): ReadRecord[] {
    return this.reads.filter(
      (read) => read.what === what && (!namespace || !read.namespace || read.namespace === namespace),
    );
  }

  #index(object: KubeObject): void {
    push(this.#byKind, object.kind, object);
    if (object.metadata.namespace) push(this.#byNamespace, `${object.kind}/${object.metadata.namespace}`, object);
    if (object.kind === 'Pod' && object.spec?.nodeName) push(this.#podsByNode, object.spec.nodeName, object);
    const key = keyOf(refOf(object));
    // An apps/v1 and an eks.amazonaws.com object may share a kind; the first one by apiVersion keeps the short key.
    if (!this.#byKey.has(key)) this.#byKey.set(key, object);
    if (object.metadata.uid) this.#byUid.set(object.metadata.uid, object);
    const references = object.metadata.ownerReferences ?? [];
    const owner = references.find((entry) => entry.controller) ?? references[0];
    if (owner) push(this.#children, owner.uid ?? keyOf({ ...owner, namespace: object.metadata.namespace }), object);
  }
}

const push = <T>(map: Map<string, T[]>, key: string, value: T): void => {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
};

/** Sorts by a key that is computed once per item. */
const sortedBy = <T>(list: T[], key: (item: T) => string): T[] =>
  list
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ item }) => item);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const sortKey = (object: KubeObject): string =>
  `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}/${object.apiVersion ?? ''}`;
const logKey = (log: ContainerLog): string => `${log.namespace}/${log.pod}/${log.container}/${log.previous}`;
const byTimeThenText = (a: KubeEvent, b: KubeEvent): number =>
  compare(a.lastAt, b.lastAt) || compare(a.namespace + a.name + a.message, b.namespace + b.name + b.message);
