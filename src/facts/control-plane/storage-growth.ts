import type { Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { type LogLine, linesLike } from '../logs/log-search.ts';
import { lastValue, minValue } from '../series.ts';

/** What one resource holds in etcd, and how much of that came within the time the metrics cover. */
export interface StoredResource {
  /** `workflows.argoproj.io`, `events`. */
  name: string;
  count: number;
  added: number;
  /** Estimated bytes of all and of the added objects. */
  bytes: number;
  addedBytes: number;
  series: Series;
}

/** A usual object of the core groups, where nothing tells its size. Custom resources carry more status. */
const usualBytes = 3000;
const customBytes = 8000;

/** Resources by what they hold in etcd, the largest first, from the API server's object counts and sizes. */
export const storedResources = (facts: ClusterFacts): StoredResource[] => {
  const counts = [...facts.series('apiserver_storage_objects'), ...facts.series('apiserver_resource_objects')];
  const sizes = facts.series('apiserver_resource_size_estimate_bytes');
  return counts
    .map((series): StoredResource => {
      const name = nameOf(series);
      const size = sizes.find((entry) => nameOf(entry) === name);
      const count = lastValue(series);
      const added = count - minValue(series);
      const each = size ? lastValue(size) / Math.max(1, count) : eachBytes(facts, name);
      return { name, count, added, bytes: size ? lastValue(size) : count * each, addedBytes: added * each, series };
    })
    .filter((entry) => entry.count > 0)
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
};

const nameOf = (series: Series): string => {
  const { resource = '', group } = series.labels;
  return group && !resource.includes('.') ? `${resource}.${group}` : resource;
};

export const kindOf = (resource: string): string => {
  const plural = resource.split('.')[0]!;
  const known: Record<string, string> = {
    policies: 'Policy',
    networkpolicies: 'NetworkPolicy',
    replicasets: 'ReplicaSet',
  };
  const singular = plural
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch)es$/, '$1')
    .replace(/s$/, '');
  return known[plural] ?? singular;
};

/** Objects of the resource that were read, whatever their group: kinds are compared without case. */
export const objectsOf = (facts: ClusterFacts, resource: string): KubeObject[] => {
  const kind = kindOf(resource).toLowerCase();
  return facts.kinds.filter((name) => name.toLowerCase() === kind).flatMap((name) => facts.all(name));
};

/** A size that a controller's log names, else the objects that were read, else a usual size. */
const eachBytes = (facts: ClusterFacts, resource: string): number => {
  const kind = kindOf(resource).toLowerCase();
  const named = linesLike(facts, new RegExp(`${kind}.*\\bsize=\\d+|\\bsize=\\d+.*${kind}`, 'i'))
    .map(({ line }) => Number(/\bsize=(\d+)/.exec(line)![1]))
    .sort((a, b) => a - b);
  if (named.length > 0) return named[Math.floor(named.length / 2)]!;
  const read = objectsOf(facts, resource).map((object) => JSON.stringify(object).length);
  if (read.length > 0) return Math.max(...read);
  return resource.includes('.') ? customBytes : usualBytes;
};

/** Namespaces of the resource's objects with how many of them each holds, as objects or log lines tell. */
export const namespacesOf = (facts: ClusterFacts, resource: string): { namespace: string; share: number }[] => {
  const kind = kindOf(resource).toLowerCase();
  const names = [
    ...objectsOf(facts, resource).map((object) => object.metadata.namespace ?? ''),
    ...linesLike(facts, new RegExp(kind, 'i')).map(
      ({ line }) =>
        (/namespace[="\s:]+"?([a-z0-9-]+)/.exec(line) ?? /namespaces\/([a-z0-9-]+)\//.exec(line))?.[1] ?? '',
    ),
  ].filter(Boolean);
  const groups = new Map<string, number>();
  for (const name of names) groups.set(name, (groups.get(name) ?? 0) + 1);
  return [...groups]
    .map(([namespace, count]) => ({ namespace, share: count / names.length }))
    .sort((a, b) => b.share - a.share || (a.namespace < b.namespace ? -1 : 1));
};

/** The default quota of managed etcd: writes slow down well before it. */
const quotaBytes = 8 * 2 ** 30;

/** A database that is nearly full or grew manifold while its objects did: slow etcd is then the objects' doing. */
export const isFilling = (facts: ClusterFacts): boolean => {
  const size = facts
    .seriesLike(/^(apiserver_storage_(size|db_total_size)|etcd_(mvcc_)?db_total_size)/)
    .sort((a, b) => lastValue(b) - lastValue(a))[0];
  if (!size) return false;
  const grew = lastValue(size) > 3 * minValue(size) && lastValue(size) > quotaBytes / 4;
  return (
    (lastValue(size) > 0.8 * quotaBytes || grew) &&
    storedResources(facts).some((entry) => entry.added > entry.count / 3)
  );
};

/** Objects above this come near etcd's request limit of 1.5 MB: a few hundred of them fill a database. */
const hugeBytes = 500_000;

/** Without counts: refused writes of huge objects that all lie in one namespace, from the controller's log. */
export const hugeWrites = (facts: ClusterFacts, refused: RegExp): { namespace: string; line: LogLine } | undefined => {
  const lines = linesLike(facts, refused).filter(
    ({ line }) => Number(/\bsize=(\d+)/.exec(line)?.[1] ?? 0) >= hugeBytes,
  );
  const namespaces = new Set(lines.map(({ line }) => /\bnamespace[=:" ]+([a-z0-9-]+)/.exec(line)?.[1] ?? ''));
  const [namespace] = namespaces;
  return namespaces.size === 1 && namespace && lines[0] ? { namespace, line: lines[0] } : undefined;
};
