import type { Strength } from '../../domain/finding.ts';
import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type PodLogLine, speaksOfSurroundings } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type CrashReason, crashReasons } from '../../facts/workloads/crash-reasons.ts';
import { type Crash, citeCrash, crashesOf } from '../../facts/workloads/crashes.ts';
import { endingAlike } from '../../facts/workloads/shared-words.ts';
import { isInjected, podsOfRevision, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title: "A container crashes and its own last words, or the runtime's, say why",
  lookAlikes: [
    'last words about a peer, a resolver, a disk or a certificate: no proof against the program',
    'workloads of several namespaces that end with the same words and no new template: not their own code',
    'OOMKilled, liveness kills, exec format error: rules of their own',
    'a pod lost with its node (ContainerStatusUnknown): never the application',
  ],
  judge(facts, scope) {
    const crashes = crashesOf(facts, scope.pods).filter(
      (crash) =>
        crash.reason !== 'OOMKilled' && crash.reason !== 'ContainerStatusUnknown' && crash.reason !== 'Unknown',
    );
    return groupBy(crashes, (crash) => `${nameOf(facts.workloadOf(crash.pod))}/${crash.container}`).flatMap((group) =>
      crashFinding(facts, group),
    );
  },
});

interface LastWords {
  reason: CrashReason;
  text: string;
  line?: PodLogLine;
}

const lastWordsOf = (crash: Crash): LastWords | undefined => {
  const own = crash.lines.filter((line) => !speaksOfSurroundings.test(line.text));
  if (own.length < crash.lines.length && speaksOfSurroundings.test(crash.lines.at(-1)?.text ?? '')) return undefined;
  const runtime =
    /exec|executable|permission denied|no such file|not found|invalid/i.test(crash.message) &&
    !speaksOfSurroundings.test(crash.message)
      ? crash.message
      : '';
  const surrounded = own.length < crash.lines.length;
  for (const reason of crashReasons) {
    if (reason.onlyAlone && surrounded) continue;
    const line = own.findLast((entry) => reason.pattern.test(entry.text));
    if (line) return { reason, text: line.text, line };
    if (runtime && reason.pattern.test(runtime)) return { reason, text: runtime };
  }
  return undefined;
};

const crashFinding = (facts: ClusterFacts, group: Crash[]): FindingDraft[] => {
  const said = group.map((crash) => ({ crash, words: lastWordsOf(crash) })).find((entry) => entry.words);
  if (!said?.words || endingAlike(facts, said.crash).length > 0) return [];
  const { crash, words } = { crash: said.crash, words: said.words };
  const workload = facts.workloadOf(crash.pod);
  const injected = isInjected(facts, crash.pod, crash.container);
  const owner = injected ? 'platform' : ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const rollout = rolloutOf(facts, workload);
  const fresh = rollout && minutesBetween(rollout.at, facts.now) < 24 * 60 ? rollout : undefined;
  const changes = fresh?.previous ? templateChanges(fresh.previous, fresh.current) : [];
  const works = fresh?.previous ? podsOfRevision(facts, fresh.previous).filter(isReady).length : 0;
  const oneNode =
    facts.podsOf(workload).some(isReady) &&
    new Set(group.map((entry) => entry.pod.spec?.nodeName)).size === 1 &&
    group.length > 1;
  // Without a change of the template something else set the program off, whatever it says of itself.
  const settled = rollout !== undefined && !fresh;
  const strength: Strength = oneNode || settled ? 'derived' : 'direct';
  return [
    {
      mechanism: 'crash',
      explains: ['probe', 'rollout', 'application-error', 'job', 'unknown-symptom'],
      owner,
      boundary: words.reason.boundary,
      strength,
      cause: text(
        `Container ${crash.container} of ${nameOf(workload)} ends with exit ${crash.exitCode ?? 'unknown'} because ${words.reason.says}: "${words.text.slice(0, 200)}"${fresh ? `; since the rollout at ${fresh.at}${changes[0] ? ` (${changes.slice(0, 2).join('; ')})` : ''}` : ''}${works ? `; ${works} pods of the former revision run` : ''}${injected ? '; the container was injected at admission' : ''}.`,
      ),
      root: refOf(workload),
      affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
      onset: fresh?.at ?? earliest(...group.map((entry) => entry.finishedAt)),
      evidence: [
        ...(words.line ? [evidence.log(words.line.log, words.text)] : []),
        ...(words.line ? crash.lines.slice(-2).map((line) => evidence.log(line.log, line.text)) : []),
        ...group.slice(0, 2).map((entry) => citeCrash(evidence, entry)),
        ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp', fresh.at, changes.join('; '))] : []),
      ],
      chain: [
        link(workload, words.reason.says),
        ...group
          .slice(0, 3)
          .map((entry) => link(entry.pod, `exit ${entry.exitCode ?? '?'}, ${entry.restarts} restarts`)),
      ],
      contributing: [],
      nextSteps: [
        text(
          `kubectl logs -n ${crash.pod.metadata.namespace} ${crash.pod.metadata.name} -c ${crash.container} --previous`,
        ),
        ...(fresh
          ? [
              text(
                `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
              ),
            ]
          : []),
      ],
    },
  ];
};
