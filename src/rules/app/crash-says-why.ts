import type { Strength } from '../../domain/finding.ts';
import { refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { type PodLogLine, speaksOfSurroundings } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type Crash, citeCrash, crashesOf } from '../../facts/workloads/crashes.ts';
import { isInjected, podsOfRevision, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Reason {
  pattern: RegExp;
  boundary: Boundary;
  says: string;
}

/** What a program writes before it gives up, by whose work ends it. */
const reasons: Reason[] = [
  {
    boundary: 'config',
    says: 'its configuration is incomplete or wrong',
    pattern:
      /(?:missing|required|undefined|unset|empty|not set|must be set|not defined|not provided|no value)\b.{0,60}\b(?:env|environment|variable|config\w*|setting|property|option|flag|argument|parameter|key)\b|\b(?:env|environment)\b.{0,50}\b(?:missing|required|not set|undefined|unset|empty|must)|could not resolve placeholder|KeyError: '[A-Z][A-Z0-9_]+'|(?:invalid|unknown|bad|unsupported|malformed)\b.{0,30}\b(?:config\w*|setting|value|option|flag|field|argument|url|dsn|yaml|json)|(?:failed|unable|error|cannot|could not)\b.{0,30}\b(?:load|pars\w+|read|open|decode|unmarshal)\w*\b.{0,40}\b(?:config\w*|settings|yaml|yml|json|toml|properties|file)|yaml: (?:line|unmarshal)|cannot unmarshal|ConfigError|ConfigurationException|BeanCreationException|ValidationError/i,
  },
  {
    boundary: 'config',
    says: 'a file or program it needs is not there',
    pattern:
      /no such file or directory|ENOENT|FileNotFoundError|FileNotFoundException|executable file not found|command not found|Cannot find module|ModuleNotFoundError|ImportError|ClassNotFoundException|NoClassDefFoundError|no main manifest attribute|cannot open shared object file|permission denied|EACCES/i,
  },
  {
    boundary: 'application',
    says: 'the database schema does not fit it',
    pattern:
      /relation "[^"]+" does not exist|no such table|Unknown column|column "[^"]+" (?:of relation|does not exist)|migration .*(?:failed|dirty|pending)|Dirty database version|Flyway\w*Exception|liquibase.*(?:failed|exception)/i,
  },
  {
    boundary: 'application',
    says: 'it fails in its own code',
    pattern:
      /panic: |fatal error: |goroutine 1 \[|Traceback|Exception in thread|Unhandled(?:PromiseRejection|Exception| exception)|Uncaught|NullPointerException|SIGSEGV|segmentation fault|thread '.*' panicked|stack overflow|StackOverflowError|(?:Type|Reference|Range|Syntax|Attribute|Name|Value|Index|Key|Assertion|Runtime)Error\b|IllegalState|IllegalArgument|java\.lang\.\w*(?:Error|Exception)|OutOfMemoryError|heap out of memory|core dumped|address already in use/i,
  },
];

export default rule({
  title: "A container crashes and its own last words, or the runtime's, say why",
  lookAlikes: [
    'last words about a peer, a resolver, a disk or a certificate: no proof against the program',
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
  reason: Reason;
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
  for (const reason of reasons) {
    const line = own.findLast((entry) => reason.pattern.test(entry.text));
    if (line) return { reason, text: line.text, line };
    if (runtime && reason.pattern.test(runtime)) return { reason, text: runtime };
  }
  return undefined;
};

const crashFinding = (facts: ClusterFacts, group: Crash[]): FindingDraft[] => {
  const said = group.map((crash) => ({ crash, words: lastWordsOf(crash) })).find((entry) => entry.words);
  if (!said?.words) return [];
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
