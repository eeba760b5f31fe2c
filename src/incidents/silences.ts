import type { Alert } from '../domain/alert.ts';
import type { Breadth, Matcher, Silence } from '../domain/silence.ts';
import { workloadOfPodName } from '../domain/workload-name.ts';

/** Why Alertmanager took or ended no silence. */
export type SilenceFailure = { kind: 'retry' | 'permanent' | 'operator'; message: string; fix: string };
export type SilenceResult<T> = { ok: true; value: T } | { ok: false; failure: SilenceFailure };

/** Silences of one Alertmanager. Never throws for a neighbour that is down. */
export interface Silencer {
  /** Creates a silence, or changes the one whose `id` is given; answers its id, which may be a new one. */
  put(silence: Omit<Silence, 'id'> & { id: string | null }): Promise<SilenceResult<string>>;
  /** Ends it now; one that has ended already is as good. */
  expire(id: string): Promise<SilenceResult<null>>;
  /** Those in force whose comment ends with this mark: what an answer that was lost has left behind. */
  marked(mark: string): Promise<SilenceResult<Silence[]>>;
}

/** Labels that change while the trouble stays: of the exporter's address, and of one life of a container. */
const volatile = new Set(['instance', 'uid', 'container_id', 'id', 'prometheus', 'prometheus_replica', 'endpoint']);

/**
 * The conditions that silence these alerts through their flaps: a pod's name is matched by its workload, since the pod
 * that comes next has another. Equal sets are one. Alerts that a firing incident no longer has cannot be told apart.
 */
export const matchersFor = (alerts: Alert[], breadth: Breadth): Matcher[][] => {
  const sets = alerts.map(({ labels }) => (breadth === 'group' ? groupMatchers(labels) : alertMatchers(labels)));
  return [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()];
};

const exactly = (name: string, value: string): Matcher => ({ name, value, isRegex: false });

const groupLabels = ['alertname', 'cluster', 'namespace'];

const groupMatchers = (labels: Record<string, string>): Matcher[] =>
  groupLabels.filter((name) => labels[name]).map((name) => exactly(name, labels[name]!));

const alertMatchers = (labels: Record<string, string>): Matcher[] =>
  Object.entries(labels)
    .filter(([name, value]) => value && !(volatile.has(name) && (labels.pod || name !== 'instance')))
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => (name === 'pod' ? podMatcher(value) : exactly(name, value)));

/** RE2, as Alertmanager reads it. */
const podMatcher = (pod: string): Matcher => {
  const workload = workloadOfPodName(pod);
  return workload === pod
    ? exactly('pod', pod)
    : { name: 'pod', value: `${workload.replace(/[.+*?()|[\]{}^$\\]/g, '\\$&')}-.+`, isRegex: true };
};

/** The end of a silence's comment, by which it is found again. */
export const markOf = (incidentId: string): string => `[faultline ${incidentId}]`;

export const sameMatchers = (one: Matcher[], other: Matcher[]): boolean => {
  const text = (matchers: Matcher[]) =>
    JSON.stringify(matchers.map(({ name, value, isRegex }) => [name, value, isRegex]).sort());
  return text(one) === text(other);
};
