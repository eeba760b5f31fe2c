import type { KubeObject } from '../domain/kubernetes.ts';
import type { OwnerDirectory, WorkloadEntry } from './directory.ts';
import { absent, type OwnerFact } from './owner-fact.ts';

interface Place {
  chain: KubeObject[];
  namespace: string | undefined;
  cluster: string;
  directory: OwnerDirectory;
}

/** What the directory's own entries say: workloads in the order of the files, then the most exact namespace. */
export const directoryFact = ({ chain, namespace, cluster, directory }: Place): OwnerFact => {
  const where = 'directory';
  const index = directory.workloads.findIndex((entry) => matchesWorkload(entry, chain, namespace, cluster));
  const entry = directory.workloads[index];
  const pattern = namespace ? bestPattern(Object.keys(directory.namespaces), namespace) : undefined;
  const id = entry?.team ?? (pattern ? directory.namespaces[pattern] : undefined);
  const team = id ? directory.teams[id] : undefined;
  if (!team) return absent(where, 'workloads, namespaces');
  const what = entry ? `workloads[${index}]: ${describe(entry)}` : `namespaces.${pattern}: ${id}`;
  return { where, what: `entry ${what}`, outcome: 'decides', note: '', party: team };
};

const describe = ({ team, labels, ...rest }: WorkloadEntry): string =>
  [...Object.entries(rest), ...Object.entries(labels ?? {})].map(([key, value]) => `${key}=${value}`).join(' ') +
  `: ${team}`;

/** `*` stands for any characters; without backtracking over more than one star at a time. */
export const matchesPattern = (pattern: string, value: string): boolean => {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === value;
  if (!value.startsWith(head)) return false;
  const tail = rest.pop()!;
  let position = head.length;
  for (const part of rest) {
    const found = value.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return value.length - tail.length >= position && value.endsWith(tail);
};

const matchesWorkload = (
  entry: WorkloadEntry,
  chain: KubeObject[],
  namespace: string | undefined,
  cluster: string,
): boolean => {
  if (entry.cluster && entry.cluster !== cluster) return false;
  if (entry.namespace && !(namespace && matchesPattern(entry.namespace, namespace))) return false;
  if (!entry.kind && !entry.name && !entry.labels) return true;
  return chain.some(
    (object) =>
      (!entry.kind || entry.kind === object.kind) &&
      (!entry.name || matchesPattern(entry.name, object.metadata.name)) &&
      Object.entries(entry.labels ?? {}).every(([key, value]) => object.metadata.labels?.[key] === value),
  );
};

/** An exact name wins over patterns, a longer pattern over a shorter one. */
const bestPattern = (patterns: string[], namespace: string): string | undefined =>
  patterns.includes(namespace)
    ? namespace
    : patterns
        .filter((pattern) => matchesPattern(pattern, namespace))
        .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))[0];
