import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A watcher that finds nothing where it looks. */
const seesNone =
  /(?:\b|_)(?:count|found|active|running|total|sessions?|sandboxes?|containers?)\w*[=:]\s*0\b|no (?:such file|\w+ found)/i;
/** What it should have seen, by the account of the one that runs it. */
const runsSome = /(?:\b|_)(?:active|running|count|sessions?|sandboxes?|containers?)\w*[=:]\s*([1-9]\d*)\b/i;
const absolutePath = /(?<![\w.:/-])\/(?:[\w.-]+\/)+[\w.-]+/g;
/** Paths by which containers reach the host: a prefix that says nothing about the host's own path. */
const hostPrefix = /^\/(?:host|rootfs|host-root)(?=\/)/;

export default rule({
  title: 'Two agents on a node mean the same thing by different host paths: one runs it, the other sees none',
  lookAlikes: ['both read the same path and one is broken: its own log says so'],
  judge(facts, scope) {
    const namespaces = new Set(scope.subjects.map((subject) => subject.namespace));
    const runners = facts
      .all('Pod')
      .filter((pod) => namespaces.has(pod.metadata.namespace) && facts.workloadOf(pod).kind === 'DaemonSet');
    for (const runner of runners) {
      const some = grep(facts, [runner], runsSome).at(-1);
      if (!some) continue;
      for (const watcher of facts.podsOn(runner.spec?.nodeName ?? '')) {
        const mismatch =
          facts.workloadOf(watcher) === facts.workloadOf(runner) ? undefined : mismatchOf(runner, watcher);
        const none = mismatch && grep(facts, [watcher], seesNone).at(-1);
        if (mismatch && none)
          return [
            mismatchFinding(
              facts,
              scope.subjects.map((subject) => ({
                kind: subject.kind,
                name: subject.name ?? '',
                namespace: subject.namespace,
              })),
              { runner, watcher, mismatch, some, none },
            ),
          ];
      }
    }
    return [];
  },
});

interface Pair {
  runner: KubeObject;
  watcher: KubeObject;
  mismatch: { runs: string; watches: string };
  some: PodLogLine;
  none: PodLogLine;
}

const pathsOf = (pod: KubeObject): string[] => {
  const spec = podSpecOf(pod);
  const words = [
    ...(spec.volumes ?? []).map((volume: any) => volume.hostPath?.path),
    ...(spec.containers ?? []).flatMap((container: any) => [
      ...(container.args ?? []),
      ...(container.command ?? []),
      ...(container.env ?? []).map((entry: any) => entry.value),
    ]),
  ].filter(Boolean);
  return [
    ...new Set(
      words
        .flatMap((word: string) => word.match(absolutePath) ?? [])
        .map((path: string) => path.replace(hostPrefix, '')),
    ),
  ];
};

/** Paths that end alike and lie elsewhere; a path both know is no mismatch. */
const mismatchOf = (runner: KubeObject, watcher: KubeObject): Pair['mismatch'] | undefined => {
  const [runs, watches] = [pathsOf(runner), pathsOf(watcher)];
  const last = (path: string): string => path.split('/').at(-1)!;
  for (const path of runs) {
    const other = watches.find(
      (entry) => entry !== path && last(entry) === last(path) && !runs.includes(entry) && !watches.includes(path),
    );
    if (other && last(path).length > 3) return { runs: path, watches: other };
  }
  return undefined;
};

const mismatchFinding = (
  facts: ClusterFacts,
  subjects: { kind: string; name: string; namespace?: string }[],
  pair: Pair,
): FindingDraft => {
  const { runner, watcher, mismatch, some, none } = pair;
  const workload = facts.workloadOf(watcher);
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const removed = facts.events.filter(
    (event) =>
      /^Disrupt/.test(event.reason) && /Empty/.test(event.message) && minutesBetween(event.lastAt, facts.now) < 120,
  );
  const near = removed.filter((event) => event.regarding.kind === 'Node').at(-1) ?? removed.at(-1);
  return {
    mechanism: 'node-removed',
    explains: ['node-churn', 'application-error', 'dependency', 'unknown-symptom', 'eviction'],
    owner,
    boundary: 'config',
    strength: 'direct',
    cause: text(
      `${nameOf(workload)} watches ${mismatch.watches} while ${nameOf(facts.workloadOf(runner))} runs with ${mismatch.runs}: on one node it sees none where the other has some${near ? `, so nodes with live work count as empty and are removed (${near.message})` : ''}.`,
    ),
    root: refOf(workload),
    affects: [...subjects, refOf(workload), refOf(watcher), refOf(facts.workloadOf(runner)), refOf(runner)],
    onset: workload.metadata.creationTimestamp,
    evidence: [
      evidence.log(none.log, none.text),
      evidence.log(some.log, some.text),
      evidence.field(watcher, 'spec', mismatch.watches, 'host path it watches'),
      evidence.field(runner, 'spec', mismatch.runs, 'path it runs with'),
      ...(near ? [evidence.event(near)] : []),
    ],
    chain: [
      link(workload, `watches ${mismatch.watches}`),
      link(watcher, 'sees none'),
      link(runner, `runs with ${mismatch.runs}`),
      ...(near
        ? [{ object: `${near.regarding.kind} ${near.regarding.name}`, uid: near.regarding.uid, claim: near.message }]
        : []),
    ],
    contributing:
      ownershipOf(facts, runner) === owner
        ? []
        : [
            {
              owner: ownershipOf(facts, runner),
              action: text('Tell when the path of the runtime changes, or let it be read from one place.'),
            },
          ],
    nextSteps: [text(`Mount ${mismatch.runs} in ${nameOf(workload)} in place of ${mismatch.watches}.`)],
  };
};
