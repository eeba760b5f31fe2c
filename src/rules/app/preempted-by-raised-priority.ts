import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { templateHistory } from '../../facts/capacity/templates.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isUnscheduled, podSpecOf } from '../../facts/pods.ts';
import { latest, minutesBetween } from '../../facts/time.ts';
import { podEventsOf } from '../../facts/workloads/gone-pods.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A priority older than this had its effect long before. */
const recentMinutes = 7 * 24 * 60;
const preemptor = /Preempted by (?:a )?pod ([0-9a-f-]{36})/;

interface Raise {
  owner: 'platform' | 'app';
  root: KubeObject;
  at: string;
  how: string;
}

export default rule({
  title: 'Pods are preempted by others whose priority was raised lately: by their own release, or by a changed class',
  lookAlikes: [
    'a pool or group at its limit: it was enough until something outranked what ran there',
    'a preemptor whose class and template are old: what grew is the cause',
    'a class that became the default outranks pods made before, though no team changed anything',
  ],
  judge(facts, scope) {
    return scope.workloads.flatMap((victim) => {
      const said = podEventsOf(facts, victim, /^Preempted$/).flatMap((event) => {
        const by = facts.all('Pod').find((pod) => pod.metadata.uid === preemptor.exec(event.message)?.[1]);
        return by ? [{ event, by }] : [];
      });
      return groupBy(said, ({ by }) => nameOf(facts.workloadOf(by))).flatMap((group) =>
        findingOf(
          facts,
          victim,
          group[0]!.by,
          group.map(({ event }) => event),
        ),
      );
    });
  },
});

const findingOf = (facts: ClusterFacts, victim: KubeObject, by: KubeObject, events: KubeEvent[]): FindingDraft[] => {
  const raise = raiseOf(facts, by, events[0]!.firstAt);
  if (!raise) return [];
  const taker = facts.workloadOf(by);
  const waiting = facts.podsOf(victim).filter(isUnscheduled);
  const evidence = cite(raise.owner, facts);
  const pods = facts.podsOf(taker);
  return [
    {
      mechanism: 'eviction',
      explains: ['pool-limit', 'pending', 'scheduling', 'rollout', 'probe', 'unknown-symptom'],
      owner: raise.owner,
      boundary: 'scheduling',
      strength: 'derived',
      cause: text(
        `${events.length} pods of ${nameOf(victim)} were preempted by pods of ${nameOf(taker)}, which outrank them (priority ${by.spec?.priority ?? 'unknown'}) since ${raise.at}: ${raise.how}; ${waiting.length} wait for room.`,
      ),
      root: refOf(raise.root),
      affects: [victim, ...waiting].map(refOf),
      onset: raise.at,
      evidence: [
        ...events.slice(-2).map((event) => evidence.event(event)),
        evidence.field(by, 'spec.priorityClassName', by.spec?.priorityClassName ?? 'none'),
        evidence.field(by, 'spec.priority', String(by.spec?.priority ?? '')),
        ...(raise.root.kind === 'PriorityClass'
          ? [
              evidence.field(raise.root, 'globalDefault', String(raise.root.globalDefault ?? false)),
              evidence.field(raise.root, 'value', String(raise.root.value)),
            ]
          : [evidence.field(raise.root, 'metadata.creationTimestamp', raise.at, raise.how)]),
        ...waiting.slice(0, 1).map((pod) => evidence.condition(pod, 'PodScheduled')),
      ],
      chain: [
        link(raise.root, raise.how),
        link(by, `one of ${pods.length}, takes the room`),
        link(victim, 'is preempted'),
      ],
      contributing:
        raise.owner === 'app'
          ? [
              {
                owner: 'platform',
                action: text(
                  'Bound by quota (scopeSelector PriorityClass) who may use high classes; give the pool room.',
                ),
              },
            ]
          : [],
      nextSteps: [
        text(
          raise.owner === 'app'
            ? `Give ${nameOf(taker)} its former priority back: kubectl rollout undo ${taker.kind.toLowerCase()}/${taker.metadata.name} -n ${taker.metadata.namespace}`
            : `Look at the class and who may use it: kubectl get priorityclass ${raise.root.metadata.name} -o yaml; lower it or take globalDefault away.`,
        ),
      ],
    },
  ];
};

/** What made the preemptor outrank its victims before this time: a template of its own, or a class. */
const raiseOf = (facts: ClusterFacts, by: KubeObject, before: string): Raise | undefined => {
  const isRecent = (at: string | undefined): at is string =>
    at !== undefined && minutesBetween(at, before) >= -10 && minutesBetween(at, before) <= recentMinutes;
  const taker = facts.workloadOf(by);
  const name = by.spec?.priorityClassName;
  const history = templateHistory(facts, taker);
  const now = podSpecOf(history.current).priorityClassName;
  const former = history.previous && podSpecOf(history.previous).priorityClassName;
  const owner = ownershipOf(facts, taker);
  if (now !== undefined && isRecent(history.since)) {
    if (history.previous && former !== now)
      return { owner, root: taker, at: history.since, how: `priority class ${now} instead of ${former ?? 'none'}` };
    if (history.first) return { owner, root: taker, at: history.since, how: `new, with priority class ${now}` };
  }
  const priorityClass = facts.find('PriorityClass', name);
  if (!priorityClass) return undefined;
  const at = latest(priorityClass.metadata.creationTimestamp, lastWriter(priorityClass)?.time);
  if (!isRecent(at)) return undefined;
  const how = `class ${name} (${priorityClass.value}${priorityClass.globalDefault ? ', globalDefault' : ''}) was set${now === undefined ? ', and pods that name no class get it' : ''}`;
  return { owner: 'platform', root: priorityClass, at, how };
};
