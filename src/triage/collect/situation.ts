import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { conditionsOf } from '../../facts/conditions.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { containerStatuses, isTroubled } from '../../facts/pods.ts';
import { type Scope, scopeOf } from '../../facts/scope.ts';
import { type Family, familiesOf } from '../families.ts';
import type { Collection } from './collection.ts';

/** Namespaces of an incident that are looked into; the first one speaks most. */
const maxNamespaces = 4;

/** What a layer knows so far: what its next reads are decided by. */
export interface Situation {
  facts: ClusterFacts;
  scope: Scope;
  families: Family[];
  /** Namespaces that the subjects name; empty where the incident is about nodes, pools or the whole cluster. */
  namespaces: string[];
  /** Kinds of the subjects. */
  kinds: string[];
  /** Pods of the incident: the scope's, else all that were read. */
  pods: KubeObject[];
  /** Those of them that are not what their owner wants. */
  troubled: KubeObject[];
  /** Nodes that are not ready, the incident's own first. */
  illNodes: KubeObject[];
  /**
   * 1 where the alerts or the incident's own events and conditions say something like this, 0.4 where others in the
   * cluster do, else 0.
   */
  says(pattern: RegExp): number;
  /** As `says`, of the alerts alone. */
  alertSays(pattern: RegExp): boolean;
  /** All objects of this kind were read, in this namespace or everywhere. */
  isWhole(plural: string, namespace?: string): boolean;
}

export const situationOf = (collection: Collection): Situation => {
  const facts = collection.view();
  const scope = scopeOf(facts);
  const { subjects } = collection.target;
  const named = subjects.map((subject) => (subject.kind === 'Namespace' ? subject.name : subject.namespace));
  const namespaces = [...new Set(named.filter((namespace) => namespace !== undefined))].slice(0, maxNamespaces);
  const pods = scope.pods.length > 0 ? scope.pods : facts.all('Pod');
  const alerts = facts.alerts
    .flatMap(({ labels, annotations }) => Object.values({ ...labels, ...annotations }))
    .join('\n');
  const heard = new Map<string, number>();
  const [own, others] = wordsOf(facts, scope, namespaces, pods);
  const said = (pattern: RegExp): number =>
    pattern.test(alerts) || pattern.test(own) ? 1 : pattern.test(others) ? 0.4 : 0;
  return {
    facts,
    scope,
    families: familiesOf(facts, scope),
    namespaces,
    kinds: [...new Set(subjects.map(({ kind }) => kind))],
    pods,
    troubled: pods.filter(isTroubled),
    illNodes: [...new Set([...scope.nodes.filter(isNotReady), ...facts.all('Node').filter(isNotReady)])],
    says(pattern) {
      const known = heard.get(pattern.source) ?? said(pattern);
      heard.set(pattern.source, known);
      return known;
    },
    alertSays: (pattern) => pattern.test(alerts),
    isWhole: (plural, namespace) => collection.isWhole(plural, namespace),
  };
};

/** Words of the incident's own objects, and those of the others. */
const wordsOf = (facts: ClusterFacts, scope: Scope, namespaces: string[], pods: KubeObject[]): [string, string] => {
  const isOwn = (namespace: string | undefined): boolean =>
    namespaces.length === 0 || namespaces.includes(namespace ?? '');
  const own = new Set<string>();
  const others = new Set<string>();
  for (const { regarding, reason, message } of facts.events)
    (isOwn(regarding.namespace) || scope.has(regarding) ? own : others).add(`${reason} ${message}`);
  const speaking = [...pods, ...scope.workloads, ...scope.nodes, ...scope.claims, ...scope.pools];
  for (const object of speaking)
    for (const { status, type, reason, message } of conditionsOf(object))
      if ((type === 'Ready') !== (status === 'True')) own.add(`${type} ${reason ?? ''} ${message ?? ''}`);
  for (const status of pods.flatMap(containerStatuses))
    for (const state of [status.state?.waiting, status.state?.terminated, status.lastState?.terminated])
      if (state) own.add(`${state.reason ?? ''} ${state.message ?? ''}`);
  return [[...own].join('\n'), [...others].join('\n')];
};
