import type { Strength } from '../../domain/finding.ts';
import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTrue } from '../../facts/conditions.ts';
import { grep, speaksOfSurroundings } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses, isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { containerOf, containerPath, podsOfRevision, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Failure {
  pattern: RegExp;
  strength: Strength;
  says(match: RegExpExecArray): string;
}

/** What a probe's output says about whose fault it is, the surest first. */
const failures: Failure[] = [
  {
    pattern:
      /exec: "([^"]+)"[^\n]*(no such file or directory|executable file not found|permission denied)|(?<!\S)(\S+): (not found|no such file or directory)/,
    strength: 'direct',
    says: (match) =>
      `the image does not hold the program the probe runs (${match[1] ?? match[3]}: ${match[2] ?? match[4]})`,
  },
  {
    pattern: /statuscode: (4\d\d|3\d\d)/,
    strength: 'direct',
    says: (match) => `the application answers the probe's path with ${match[1]}`,
  },
  {
    pattern:
      /server gave HTTP response to HTTPS client|malformed HTTP response|first record does not look like a TLS handshake|Client sent an HTTP request to an HTTPS server/i,
    strength: 'direct',
    says: () => 'the probe and the application disagree about TLS',
  },
  {
    pattern: /statuscode: (5\d\d)/,
    strength: 'derived',
    says: (match) => `the application itself answers ${match[1]}`,
  },
  { pattern: /NOT_SERVING/, strength: 'derived', says: () => 'the application itself answers NOT_SERVING' },
  { pattern: /connection refused/, strength: 'derived', says: () => "nothing listens on the probe's port" },
  {
    pattern: /deadline exceeded|Client\.Timeout|timed? ?out/i,
    strength: 'circumstantial',
    says: () => 'the application does not answer in time',
  },
];

interface Failing {
  pod: KubeObject;
  event: KubeEvent;
  failure: Failure;
  match: RegExpExecArray;
}

const probeKinds = /^(Liveness|Readiness|Startup) probe/;
const listening = /(?:listen\w*|started|serving|bound)\b[^\n]*?(?:port\(?s?\)?:?\s*|:)(\d{2,5})\b/i;
/** A pod may be unready this long after its start without anything being wrong. */
const startMinutes = 3;

export default rule({
  title: 'A probe fails because of what the probe asks or what the application answers',
  lookAlikes: [
    'a container that was just restarted by something else refuses connections for a moment',
    'pods of several workloads on one node fail their probes: the node',
    'a single failed probe of a pod that is ready: noise',
  ],
  judge(facts, scope) {
    const failing = scope.troubledPods.flatMap((pod) => failingOf(facts, pod));
    return groupBy(failing, (entry) => nameOf(facts.workloadOf(entry.pod))).flatMap((group) =>
      probeFinding(facts, group),
    );
  },
});

/** The surest failure of a pod's probe that still goes on while the pod is unready or keeps being restarted. */
const failingOf = (facts: ClusterFacts, pod: KubeObject): Failing[] => {
  const restarting = containerStatuses(pod).some((status) => (status.restartCount ?? 0) >= 2);
  const settled = minutesBetween(pod.status?.startTime ?? pod.metadata.creationTimestamp, facts.now) > startMinutes;
  if ((isReady(pod) && !restarting) || !settled) return [];
  const found = facts
    .eventsAbout(pod, 'Unhealthy')
    .filter((event) => minutesBetween(event.lastAt, facts.now) < 15 && (event.count >= 3 || !isReady(pod)))
    .flatMap((event): Failing[] => {
      const failure = failures.find((entry) => entry.pattern.test(event.message));
      return failure ? [{ pod, event, failure, match: failure.pattern.exec(event.message)! }] : [];
    });
  return found.sort((a, b) => failures.indexOf(a.failure) - failures.indexOf(b.failure)).slice(0, 1);
};

const probeFinding = (facts: ClusterFacts, group: Failing[]): FindingDraft[] => {
  const entry = [...group].sort((a, b) => failures.indexOf(a.failure) - failures.indexOf(b.failure))[0]!;
  const pods = group.map((item) => item.pod);
  const workload = facts.workloadOf(entry.pod);
  const kind = probeKinds.exec(entry.event.message)?.[1] ?? 'Readiness';
  const container = /\{(.+)\}/.exec(entry.event.regarding.fieldPath ?? '')?.[1] ?? probedContainer(entry.pod, kind);
  const probe = containerOf(entry.pod, container)?.[`${kind.toLowerCase()}Probe`];
  const port = portMismatch(facts, entry, container);
  const surroundings = entry.failure.strength !== 'direct' && !port && troubleAround(facts, group);
  if (surroundings) return [];
  const crashed = pods.every((pod) =>
    containerStatuses(pod).some((status) => status.state?.waiting?.reason === 'CrashLoopBackOff'),
  );
  const rollout = rolloutOf(facts, workload);
  const onset = earliest(...group.map((item) => item.event.firstAt)) ?? facts.now;
  const fresh =
    rollout &&
    rollout.at > (workload.metadata.creationTimestamp ?? '') &&
    Math.abs(minutesBetween(rollout.at, onset)) < 60
      ? rollout
      : undefined;
  const changes = fresh?.previous ? templateChanges(fresh.previous, fresh.current) : [];
  const good = fresh?.previous ? podsOfRevision(facts, fresh.previous).filter(isReady) : [];
  const inWords = changes.filter((change) => !/^\w+Probe /.test(change));
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const kills = pods.flatMap((pod) => facts.eventsAbout(pod, 'Killing')).filter((event) => /probe/.test(event.message));
  // A probe that times out since a rollout whose predecessor answers is the release's; else it may be anything around it.
  const tighter = fresh?.previous && tightened(fresh.previous, fresh.current, container, kind);
  const late =
    entry.failure.strength === 'circumstantial' && fresh !== undefined && (good.length > 0 || tighter !== undefined);
  // An application that says it cannot reach something answers 5xx for that reason: its probe is the messenger.
  const surrounded = /statuscode: 5|NOT_SERVING/.test(entry.event.message) && !fresh && blamesSurroundings(facts, pods);
  const impatient = kills.length > 0 && kind !== 'Readiness' ? stillStarting(facts, pods, container) : undefined;
  const strength: Strength = port
    ? 'direct'
    : impatient
      ? 'derived'
      : confinedTo(facts, pods)
        ? 'circumstantial'
        : surrounded
          ? 'circumstantial'
          : crashed && entry.failure.strength !== 'direct'
            ? 'circumstantial'
            : late
              ? 'derived'
              : entry.failure.strength === 'direct' && !fresh && /statuscode: (?:3|40[13])/.test(entry.event.message)
                ? 'derived'
                : entry.failure.strength;
  const answers = grep(
    facts,
    pods,
    /\b(404|401|403|405|5\d\d)\b.*\b(GET|HEAD|health|ready|live)|context path|base ?path|listening|started on port/i,
  );
  return [
    {
      mechanism: 'probe',
      explains: [
        'rollout',
        'crash',
        'unknown-symptom',
        ...(strength === 'direct' ? (['application-error', 'dependency'] as const) : []),
      ],
      owner: strength === 'circumstantial' ? 'undetermined' : owner,
      boundary: 'probe',
      strength,
      cause: text(
        `${kind} probe of ${nameOf(workload)} fails because ${impatient ? `it gives up after ${(probe?.initialDelaySeconds ?? 0) + patience(probe)} s while the application still starts ("${impatient.text.slice(0, 140)}")` : (port ?? entry.failure.says(entry.match))}${tighter ? ` (${tighter})` : ''}${fresh ? `, since the rollout at ${fresh.at}${inWords[0] ? ` (${inWords.slice(0, 2).join('; ')})` : ''}` : ''}${good.length > 0 ? `; ${good.length} pods of the former revision are ready` : ''}.`,
      ),
      root: refOf(workload),
      affects: [workload, ...pods, ...facts.servicesOf(entry.pod)].map(refOf),
      onset: fresh?.at ?? onset,
      evidence: [
        ...group.slice(0, 2).map((item) => evidence.event(item.event)),
        ...kills.slice(-1).map((event) => evidence.event(event)),
        ...(probe && container
          ? [
              evidence.field(
                entry.pod,
                containerPath(entry.pod, container, `${kind.toLowerCase()}Probe`),
                JSON.stringify(probe),
              ),
            ]
          : []),
        ...(impatient ? [evidence.log(impatient.log, impatient.text)] : []),
        ...answers.slice(-3).map((line) => evidence.log(line.log, line.text)),
        ...(fresh ? [evidence.field(fresh.current, 'metadata.creationTimestamp', fresh.at, changes.join('; '))] : []),
      ],
      chain: [
        link(workload, `asks a ${kind.toLowerCase()} probe that cannot pass`),
        ...pods
          .slice(0, 3)
          .map((pod) => link(pod, kind === 'Readiness' ? 'runs and is not ready' : 'is restarted by the kubelet')),
      ],
      contributing: [],
      nextSteps: [
        text(
          `Make the ${kind.toLowerCase()} probe and the application agree: kubectl get ${workload.kind.toLowerCase()} ${workload.metadata.name} -n ${workload.metadata.namespace} -o yaml`,
        ),
        ...(fresh
          ? [
              text(
                `kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
              ),
            ]
          : []),
      ],
      missing:
        strength === 'circumstantial'
          ? [
              {
                layer: 'app',
                missing: `why ${nameOf(workload)} does not answer its probe in time`,
                fix: 'read its log, CPU throttling (container_cpu_cfs_throttled_periods_total) and the load of its node',
              },
            ]
          : [],
    },
  ];
};

/** A program that says how far its start has come: it would get ready if nobody ended it before. */
const starting =
  /\bwarm(?:ing|ing[- ]?up|up)\b|\bstate[=: ]+\W?(?:starting|initiali[sz]ing|loading|recovering)|\bstill (?:starting|loading|initiali[sz]ing|recovering|replaying)|\b(?:loading|loaded|replay\w+|recover\w+|building|restor\w+)\b[^\n]{0,80}\b\d{1,2}(?:\.\d+)? ?%/i;

/** What it said last of its start, in the run that the kubelet ended. */
const stillStarting = (facts: ClusterFacts, pods: KubeObject[], container: string) =>
  grep(facts, pods, starting).findLast(
    (line) => line.log.container === container && !(minutesBetween(line.at, facts.now) > 30),
  );

/** How long a container may go without an answer before the kubelet acts, in seconds. */
const patience = (probe: any): number => (probe?.periodSeconds ?? 10) * (probe?.failureThreshold ?? 3);

/** The new template gives the application less time to answer than the former one did. */
const tightened = (before: KubeObject, after: KubeObject, container: string, kind: string): string | undefined => {
  const [old, now] = [before, after].map((set) => containerOf(set, container)?.[`${kind.toLowerCase()}Probe`]);
  if (!now) return undefined;
  if (!old) return `the new revision has a ${kind.toLowerCase()} probe, the former one had none`;
  const [was, is] = [old.timeoutSeconds ?? 1, now.timeoutSeconds ?? 1];
  if (is < was) return `the new revision waits ${is} s for an answer, the former one ${was} s`;
  const [waited, waits] = [patience(old), patience(now)];
  if (waits < waited) return `the new revision gives up after ${waits} s, the former one after ${waited} s`;
  const [late, soon] = [old.initialDelaySeconds ?? 0, now.initialDelaySeconds ?? 0];
  return soon < late ? `the new revision asks after ${soon} s, the former one after ${late} s` : undefined;
};

const blamesSurroundings = (facts: ClusterFacts, pods: KubeObject[]): boolean =>
  grep(facts, pods, speaksOfSurroundings).some(
    (line) => !/readi|liveness|\/health|\/ready/i.test(line.text) && !(minutesBetween(line.at, facts.now) > 90),
  );

const probedContainer = (pod: KubeObject, kind: string): string =>
  (pod.spec?.containers ?? []).find((container: any) => container[`${kind.toLowerCase()}Probe`])?.name ??
  pod.spec?.containers?.[0]?.name ??
  '';

/** The log says it listens on a port other than the one that refuses the probe. */
const portMismatch = (facts: ClusterFacts, entry: Failing, container: string): string | undefined => {
  if (!/connection refused/.test(entry.event.message)) return undefined;
  const asked = /:(\d{2,5})(?:\/|: connect|\b)/.exec(entry.event.message.replace(/^.*?(?:Get|dial tcp)/, ''))?.[1];
  const ports = grep(facts, [entry.pod], listening)
    .filter((line) => line.log.container === container)
    .map((line) => listening.exec(line.text)![1]!);
  return asked && ports.length > 0 && !ports.includes(asked)
    ? `it asks port ${asked} while the application listens on ${[...new Set(ports)].join(', ')}`
    : undefined;
};

/** The one node on which it fails, where pods of the very same revision answer on other nodes. */
const confinedTo = (facts: ClusterFacts, pods: KubeObject[]): string | undefined => {
  const [node, ...others] = new Set(pods.map((pod) => pod.spec?.nodeName as string));
  const revisions = new Set(pods.map((pod) => facts.ownerOf(pod)).filter((set) => set !== undefined));
  const siblings = [...revisions].flatMap((set) => facts.childrenOf(set)).filter((pod) => !pods.includes(pod));
  const answering = new Set(siblings.filter(isReady).map((pod) => pod.spec?.nodeName));
  const failsThereToo = siblings.some((pod) => !isReady(pod) && pod.spec?.nodeName !== node);
  return others.length === 0 && answering.size > 0 && !answering.has(node) && !failsThereToo ? node : undefined;
};

/** Pods of other workloads on the same nodes fail as well, or the node is not well: then it is not this application. */
const troubleAround = (facts: ClusterFacts, group: Failing[]): boolean => {
  const workload = facts.workloadOf(group[0]!.pod);
  const nodes = [...new Set(group.map((item) => item.pod.spec?.nodeName as string))];
  return nodes.every((name) => {
    const node = facts.find('Node', name);
    const sick = node !== undefined && (!isTrue(node, 'Ready') || isTrue(node, 'MemoryPressure'));
    const victims = facts
      .podsOn(name)
      .filter((pod) => facts.workloadOf(pod) !== workload && failingOf(facts, pod).length > 0);
    return sick || victims.length > 0;
  });
};
