import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type Crash, citeCrash, crashesOf } from '../../facts/workloads/crashes.ts';
import { endingAlike } from '../../facts/workloads/shared-words.ts';
import { podsOfRevision, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A process that ends by itself with these codes was not killed from outside. */
const ownExit = (code: number | undefined): boolean =>
  code !== undefined && code < 128 ? code > 0 : code === 134 || code === 139 || code === 255;

export default rule({
  title: 'Fallback: containers crash, and why is not in what was read',
  lookAlikes: [
    'only the new revision crashes while the former one runs: its owner',
    'pods of several workloads crash on one node: the node',
    'workloads of several namespaces end with the same words: not the applications',
  ],
  judge(facts, scope) {
    const crashes = crashesOf(facts, scope.pods).filter((crash) => crash.reason !== 'ContainerStatusUnknown');
    return groupBy(crashes, (crash) => nameOf(facts.workloadOf(crash.pod))).map((group) => crashFinding(facts, group));
  },
});

const crashFinding = (facts: ClusterFacts, group: Crash[]): FindingDraft => {
  const crash = group[0]!;
  const workload = facts.workloadOf(crash.pod);
  const rollout = rolloutOf(facts, workload);
  const fresh = rollout?.previous && minutesBetween(rollout.at, facts.now) < 24 * 60 ? rollout : undefined;
  const newOnly =
    fresh !== undefined &&
    group.every((entry) => podsOfRevision(facts, fresh.current).includes(entry.pod)) &&
    (fresh.previous ? podsOfRevision(facts, fresh.previous).some(isReady) : false);
  const nodes = new Set(group.map((entry) => entry.pod.spec?.nodeName));
  const neighbours = [...nodes].flatMap((name) =>
    crashesOf(facts, facts.podsOn(name ?? '')).filter((entry) => facts.workloadOf(entry.pod) !== workload),
  );
  const alike = group.map((entry) => endingAlike(facts, entry)).find((workloads) => workloads.length > 0) ?? [];
  const known = ownExit(crash.exitCode) && neighbours.length === 0 && alike.length === 0 && (newOnly || nodes.size > 1);
  const changes = fresh?.previous ? templateChanges(fresh.previous, fresh.current) : [];
  const evidence = cite('app', facts);
  return {
    mechanism: 'unknown-symptom',
    explains: ['rollout'],
    owner: known ? ownershipOf(facts, workload) : 'undetermined',
    boundary: known ? 'application' : null,
    strength: 'circumstantial',
    cause: text(
      `Container ${crash.container} of ${nameOf(workload)} ends with exit ${crash.exitCode ?? 'unknown'} (${crash.reason ?? crash.waiting ?? 'no reason'}), ${crash.restarts} restarts; ${fresh ? `its template is of ${fresh.at}${changes[0] ? ` (${changes[0]})` : ''}` : 'its template did not change lately'}${alike[0] ? `; ${alike.slice(0, 3).map(nameOf).join(', ')} of other namespaces end with the same words, so that what ends them lies above the applications` : ''}; why it ends is not in what was read.`,
    ),
    root: refOf(workload),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(...group.map((entry) => entry.finishedAt)),
    evidence: [
      ...group.slice(0, 3).map((entry) => citeCrash(evidence, entry)),
      ...crash.lines.slice(-3).map((line) => evidence.log(line.log, line.text)),
      ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp', fresh.at, changes.join('; '))] : []),
    ],
    chain: [
      link(workload, 'its containers end'),
      ...group.slice(0, 3).map((entry) => link(entry.pod, `exit ${entry.exitCode ?? '?'}`)),
    ],
    contributing: [],
    nextSteps: [
      text(
        `kubectl logs -n ${crash.pod.metadata.namespace} ${crash.pod.metadata.name} -c ${crash.container} --previous`,
      ),
    ],
    missing: [
      {
        layer: 'app',
        missing: `the log of ${nameOf(crash.pod)} before it ended`,
        fix: `kubectl logs -n ${crash.pod.metadata.namespace} ${crash.pod.metadata.name} -c ${crash.container} --previous (grant get on pods/log)`,
      },
    ],
  };
};
