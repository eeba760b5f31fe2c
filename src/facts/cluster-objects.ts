import { type KubeEvent, type KubeObject, keyOf, type ObjectRef, refOf } from '../domain/kubernetes.ts';
import { toEvent } from './events.ts';
import { Keyed } from './keyed.ts';
import { lazily } from './lazy.ts';
import { inOrder, sortedBy } from './order.ts';
import { selects } from './selectors.ts';

/**
 * The objects of a cluster and their relations. Their order never depends on the order in which they were read; each
 * way from one to another is laid out when it is first taken.
 */
export class ClusterObjects {
  /** By kind and namespace, each list by name. */
  readonly #byKind: Map<string, () => Map<string, Neighbours>>;
  readonly #ofKind = new Map<string, KubeObject[]>();
  readonly #objects = lazily(() => this.kinds.flatMap((kind) => this.all(kind)));
  readonly #byUid = lazily(() => new Map(this.#objects().map((object) => [object.metadata.uid, object])));
  readonly #children = lazily(() => this.#childrenByOwner());
  readonly #podsByNode = lazily(() => Map.groupBy(this.all('Pod'), (pod) => pod.spec?.nodeName as string | undefined));
  readonly #claims = lazily(() => {
    const claims = this.all('NodeClaim').toReversed();
    return {
      byNode: new Map(claims.map((claim) => [claim.status?.nodeName, claim])),
      byProviderId: new Map(claims.map((claim) => [claim.status?.providerID, claim])),
    };
  });
  readonly #events = lazily(() => this.all('Event').map(toEvent).sort(byTimeThenText));
  readonly #reasons = lazily(() => new Set(this.events.map((event) => event.reason)));
  readonly #eventsByName = lazily(() => {
    const found = new Keyed<KubeEvent[]>();
    for (const event of this.events) {
      const { kind, namespace = '', name } = event.regarding;
      found.at(name, kind, namespace, newList).push(event);
    }
    return found;
  });

  constructor(objects: KubeObject[]) {
    const kinds = Map.groupBy(objects, (object) => object.kind);
    this.#byKind = new Map([...kinds].map(([kind, list]) => [kind, lazily(() => byNamespace(list))]));
  }

  /** Kinds of which at least one object was read. */
  get kinds(): string[] {
    return [...this.#byKind.keys()].sort();
  }

  /** All objects of a kind, by namespace and name. */
  all(kind: string): KubeObject[] {
    let found = this.#ofKind.get(kind);
    if (!found) {
      found = [...(this.#byKind.get(kind)?.().values() ?? [])].flatMap(({ objects }) => objects);
      this.#ofKind.set(kind, found);
    }
    return found;
  }

  in(kind: string, namespace: string): KubeObject[] {
    return (namespace && this.#byKind.get(kind)?.().get(namespace)?.objects) || [];
  }

  find(kind: string, name: string | undefined, namespace?: string): KubeObject | undefined {
    return name
      ? this.#byKind
          .get(kind)?.()
          .get(namespace ?? '')
          ?.byName()
          .get(name)
      : undefined;
  }

  resolve({ kind, name, namespace, uid }: ObjectRef): KubeObject | undefined {
    return (uid ? this.#byUid().get(uid) : undefined) ?? this.find(kind, name, namespace);
  }

  /** All events, oldest first. */
  get events(): KubeEvent[] {
    return this.#events();
  }

  /**
   * Events about an object. By uid where both have one, since names are used again; Node events carry the node's
   * name or nothing as uid, depending on the kubelet's version, so they go by name.
   */
  eventsOf({ kind, name, namespace, uid }: ObjectRef, reason?: string): KubeEvent[] {
    if (reason && !this.#reasons().has(reason)) return [];
    const said = this.#eventsByName().get(name, kind, namespace ?? '');
    if (!said) return [];
    return said.filter(
      (event) =>
        (!reason || event.reason === reason) &&
        (kind === 'Node' || !event.regarding.uid || !uid || event.regarding.uid === uid),
    );
  }

  /** Events about an object itself. */
  eventsAbout({ kind, metadata: { name, namespace, uid } }: KubeObject, reason?: string): KubeEvent[] {
    return this.eventsOf({ kind, name, namespace, uid }, reason);
  }

  /** The controlling owner, or an object that stands for it when only the reference is known. */
  ownerOf(object: KubeObject): KubeObject | undefined {
    const reference = controllerOf(object);
    if (!reference) return undefined;
    const { apiVersion, kind, name, uid } = reference;
    const namespace = kind === 'Node' ? undefined : object.metadata.namespace;
    return (
      this.resolve({ kind, name, namespace, uid }) ??
      this.#deploymentBehind(reference, namespace) ?? { apiVersion, kind, metadata: { name, uid, namespace } }
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
    return this.ownerChain(object).findLast((link) => link.kind !== 'Node') ?? object;
  }

  /** Objects whose controlling owner this is. */
  childrenOf(object: KubeObject): KubeObject[] {
    return this.#children().get(idOf(object)) ?? [];
  }

  /** All pods below a workload, through ReplicaSets and Jobs. References written by hand may form a circle. */
  podsOf(workload: KubeObject, above: KubeObject[] = []): KubeObject[] {
    if (workload.kind === 'Pod') return [workload];
    if (above.includes(workload)) return [];
    return this.childrenOf(workload).flatMap((child) => this.podsOf(child, [...above, workload]));
  }

  podsOn(nodeName: string): KubeObject[] {
    return this.#podsByNode().get(nodeName) ?? [];
  }

  nodeOf(pod: KubeObject): KubeObject | undefined {
    return this.find('Node', pod.spec?.nodeName);
  }

  /** The NodeClaim behind a node: by status.nodeName, else by providerID. */
  claimOf(node: KubeObject): KubeObject | undefined {
    const { byNode, byProviderId } = this.#claims();
    const providerId = node.spec?.providerID;
    return byNode.get(node.metadata.name) ?? (providerId ? byProviderId.get(providerId) : undefined);
  }

  /** Services whose selector matches the pod's labels. */
  servicesOf(pod: KubeObject): KubeObject[] {
    return this.in('Service', pod.metadata.namespace ?? '').filter(
      (service) => service.spec?.selector && selects({ matchLabels: service.spec.selector }, pod.metadata.labels),
    );
  }

  /** Where ReplicaSets could not be read: a Deployment's are named `‹deployment›-‹pod-template-hash›`. */
  #deploymentBehind(reference: ObjectRef, namespace: string | undefined): KubeObject | undefined {
    return reference.kind === 'ReplicaSet'
      ? this.find('Deployment', reference.name.replace(/-[^-]+$/, ''), namespace)
      : undefined;
  }

  /** By the owner's uid or key. Pods of a ReplicaSet that was not read count as its Deployment's own, too. */
  #childrenByOwner(): Map<string, KubeObject[]> {
    const found = new Map<string, KubeObject[]>();
    const add = (owner: string, child: KubeObject): void => {
      const children = found.get(owner);
      if (children) children.push(child);
      else found.set(owner, [child]);
    };
    for (const object of this.#objects()) {
      const owner = controllerOf(object);
      if (owner) add(owner.uid ?? keyOf({ ...owner, namespace: object.metadata.namespace }), object);
    }
    for (const pod of this.all('Pod')) {
      const owner = this.ownerOf(pod);
      if (owner?.kind === 'Deployment') add(idOf(owner), pod);
    }
    return found;
  }
}

const newList = <T>(): T[] => [];

const controllerOf = ({ metadata: { ownerReferences } }: KubeObject) =>
  ownerReferences?.find((reference) => reference.controller) ?? ownerReferences?.[0];

const idOf = (object: KubeObject): string => object.metadata.uid ?? keyOf(refOf(object));

/** Objects of one kind in one namespace, or in none. */
interface Neighbours {
  objects: KubeObject[];
  /** An apps/v1 and an eks.amazonaws.com object may share a kind; the first one by apiVersion keeps the name. */
  byName(): Map<string, KubeObject>;
}

/** Namespaces in the order of `namespace/name`: what is in `a-b` comes before what is in `a`, as the API server lists it. */
const byNamespace = (objects: KubeObject[]): Map<string, Neighbours> => {
  const namespaces = Map.groupBy(objects, (object) => object.metadata.namespace ?? '');
  return new Map(
    sortedBy([...namespaces], ([namespace]) => `${namespace}/`).map(([namespace, list]) => [
      namespace,
      neighbours(sortedBy(list, ({ metadata, apiVersion }) => `${metadata.name}/${apiVersion ?? ''}`)),
    ]),
  );
};

const neighbours = (objects: KubeObject[]): Neighbours => ({
  objects,
  byName: lazily(() => new Map(objects.toReversed().map((object) => [object.metadata.name, object]))),
});

const byTimeThenText = (a: KubeEvent, b: KubeEvent): number =>
  inOrder(a.lastAt, b.lastAt) || inOrder(a.namespace + a.name + a.message, b.namespace + b.name + b.message);
