import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { isSilent } from '../../facts/nodes/nodes.ts';
import { isTroubled, terminations } from '../../facts/pods.ts';
import { type Scope, scopeOf } from '../../facts/scope.ts';
import { addMinutes, toMs } from '../../facts/time.ts';
import type { PastLog } from '../ports.ts';
import type { Collection } from './collection.ts';

/** Logs that one triage asks the store for. */
const maxPastLogs = 8;
/** Of pods that are gone, most are replicas that said the same. */
const maxGonePods = 4;
/** A log is read from so long before its pod's end or last trouble to so long after it: collectors lag. */
const minutesBefore = 30;
const minutesAfter = 10;

/** Reads what the kubelet no longer serves from the cluster's log store, where it has one, in one batch. */
export const collectPastLogs = async (collection: Collection): Promise<void> => {
  const wanted = pastLogsWanted(collection.view());
  await Promise.all(wanted.map((log) => collection.pastLog(log)));
};

/** Logs that the cluster did not give, the most telling first. Pure. */
export const pastLogsWanted = (facts: ClusterFacts): PastLog[] => {
  const scope = scopeOf(facts);
  const pods = scope.pods.filter((pod) => isTroubled(pod) && pod.metadata.namespace);
  return [
    ...pods.flatMap((pod) => formerRuns(facts, pod)),
    ...pods.flatMap((pod) => unread(facts, pod)),
    ...gone(facts, scope),
  ]
    .filter((log, at, all) => all.findIndex((other) => keyOf(other) === keyOf(log)) === at)
    .slice(0, maxPastLogs);
};

const keyOf = ({ namespace, pod, container, previous }: PastLog): string =>
  [namespace, pod, container, previous].join('/');

const around = (facts: ClusterFacts, at: string): Pick<PastLog, 'since' | 'until'> => {
  const untilMs = Math.min(toMs(at) + minutesAfter * 60_000, toMs(facts.now));
  return { since: addMinutes(at, -minutesBefore), until: new Date(untilMs).toISOString() };
};

/** Containers that ended and were started again, whose former log could not be read. */
const formerRuns = (facts: ClusterFacts, pod: KubeObject): PastLog[] =>
  terminations(pod)
    .filter(({ restartCount, terminated }) => restartCount > 0 && terminated.finishedAt)
    .filter(({ container }) => !facts.logsOf(pod).some((log) => log.container === container && log.previous))
    .map(({ container, terminated }) => ({
      ...named(pod),
      container,
      previous: true,
      since: addMinutes(terminated.finishedAt, -minutesBefore),
      until: addMinutes(terminated.finishedAt, 1),
    }));

/** Pods on nodes whose kubelet is silent, and pods that ended, of which no log could be read. */
const unread = (facts: ClusterFacts, pod: KubeObject): PastLog[] => {
  const node = facts.nodeOf(pod);
  const hasEnded = pod.status?.phase === 'Failed';
  if (facts.logsOf(pod).length > 0 || !(hasEnded || isSilent(node))) return [];
  const endedAt = terminations(pod).find(({ terminated }) => terminated.finishedAt)?.terminated.finishedAt;
  const at = hasEnded ? endedAt : node && condition(node, 'Ready')?.lastTransitionTime;
  return [{ ...named(pod), previous: false, ...around(facts, at ?? facts.now) }];
};

const named = ({ metadata }: KubeObject): Pick<PastLog, 'namespace' | 'pod'> => ({
  namespace: metadata.namespace!,
  pod: metadata.name,
});

interface GonePod {
  namespace: string;
  name: string;
  at: string;
  rank: number;
}

/** Pods that events still name and that no longer exist; those of the incident's own workloads. */
const gone = (facts: ClusterFacts, scope: Scope): PastLog[] => {
  const found = new Map<string, GonePod>();
  for (const event of facts.events) {
    const pod = podOf(event);
    if (!pod || facts.find('Pod', pod.name, pod.namespace)) continue;
    if (!scope.has(event.regarding) && !isMadeBy(facts, scope, pod)) continue;
    const key = `${pod.namespace}/${pod.name}`;
    const known = found.get(key);
    const at = known && known.at > event.lastAt ? known.at : event.lastAt;
    const rank = Math.min(known?.rank ?? 1, tellsOfTrouble(event) ? 0 : 1);
    found.set(key, { ...pod, at, rank });
  }
  return [...found.values()]
    .sort((a, b) => a.rank - b.rank || (a.at < b.at ? 1 : a.at > b.at ? -1 : a.name < b.name ? -1 : 1))
    .slice(0, maxGonePods)
    .map(({ namespace, name, at }) => ({ namespace, pod: name, previous: false, ...around(facts, at) }));
};

/** The pod that an event is about: kubelet's and scheduler's name it, controllers' have it in their words. */
const podOf = ({ regarding, namespace, message }: KubeEvent): { namespace: string; name: string } | null => {
  const words = /^(?:Created|Deleted) pod: (\S+)$/.exec(message)?.[1];
  const name = regarding.kind === 'Pod' ? regarding.name : words;
  return name ? { namespace: regarding.namespace ?? namespace, name } : null;
};

const tellsOfTrouble = ({ type, reason }: KubeEvent): boolean =>
  type === 'Warning' || /^(Evicted|Preempted|Killing|TaintManagerEviction)$/.test(reason);

/** By the names that controllers give their pods: those of the maker, and one or two parts of their own. */
const isMadeBy = (facts: ClusterFacts, scope: Scope, pod: { namespace: string; name: string }): boolean =>
  scope.workloads.some(
    ({ kind, metadata }) =>
      metadata.namespace === pod.namespace &&
      pod.name.startsWith(`${metadata.name}-`) &&
      (kind === 'Deployment' ? /^[a-z0-9]{5,10}-[a-z0-9]{5}$/ : /^[a-z0-9]{1,10}$/).test(
        pod.name.slice(metadata.name.length + 1),
      ) &&
      // A workload with a longer name may have made it.
      !facts
        .in(kind, pod.namespace)
        .some(
          (other) =>
            other.metadata.name.length > metadata.name.length && pod.name.startsWith(`${other.metadata.name}-`),
        ),
  );
