import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { complaintsOf, type PeerComplaint } from '../../facts/workloads/dependencies.ts';
import { containerPath, envOf, rolloutBefore } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Settings that bound how long, or how many at once, a program waits for what it calls. */
const bounding = /timeout|deadline|max_?wait|patience|pool_?(?:size|max)|max_?(?:conn|pool|idle)|concurren|retries/i;
const succeeded = /\b(?:200|201|204)\b|\bok\b|success/i;
const withinMinutes = 24 * 60;
const slackMinutes = 5;

export default rule({
  title: 'Calls fail since a release of the caller cut its own timeout or pool, while what it calls answers as before',
  lookAlikes: [
    'calls that failed before the release',
    'a release that left timeouts and pools alone: the peer, or the way to it',
    'a timeout that was raised',
  ],
  judge(facts, scope) {
    const complaints = complaintsOf(facts, scope.pods).filter(
      ({ fault }) => fault === 'no-answer' || fault === 'exhausted',
    );
    return groupBy(complaints, ({ pod }) => nameOf(facts.workloadOf(pod))).flatMap((group) => cutFinding(facts, group));
  },
});

interface Cut {
  container: string;
  name: string;
  before: string;
  after: string;
}

const cutFinding = (facts: ClusterFacts, group: PeerComplaint[]): FindingDraft[] => {
  const workload = facts.workloadOf(group[0]!.pod);
  const since = earliest(...group.map(({ line }) => line.at));
  if (!since) return [];
  const rollout = rolloutBefore(facts, workload, since, withinMinutes);
  if (!rollout?.previous || minutesBetween(rollout.at, since) < -slackMinutes) return [];
  const [cut] = cutsBetween(rollout.previous, rollout.current);
  if (!cut) return [];
  const host = group.find((entry) => entry.host)?.host;
  const stated = group.find(({ line }) => statesLimit(line.text, cut));
  const witness = host ? answeredElsewhere(facts, workload, host, rollout.at) : undefined;
  const entry = stated ?? group.at(-1)!;
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const path = containerPath(rollout.current, cut.container, `env[${cut.name}]`);
  return [
    {
      mechanism: 'application-error',
      explains: ['dependency', 'probe', 'crash', 'rollout', 'network', 'unknown-symptom'],
      owner,
      boundary: 'config',
      strength: stated || witness ? 'direct' : 'derived',
      cause: text(
        `The release of ${nameOf(workload)} at ${rollout.at} set ${cut.name} from ${cut.before} to ${cut.after}; since ${since} its calls${host ? ` to ${host}` : ''} fail: "${entry.line.text.slice(0, 160)}"${witness ? `; another workload is answered by the same host (${witness.log.namespace}/${witness.log.pod})` : ''}.`,
      ),
      root: refOf(workload),
      affects: [workload, ...group.map(({ pod }) => pod), ...facts.servicesOf(group[0]!.pod)].map(refOf),
      onset: rollout.at,
      evidence: [
        evidence.log(entry.line.log, entry.line.text),
        evidence.field(rollout.current, path, cut.after, `${cut.name} ${cut.before} → ${cut.after}`),
        ...(witness ? [evidence.log(witness.log, witness.text)] : []),
      ],
      chain: [
        link(workload, `${cut.name} ${cut.before} → ${cut.after}`),
        ...group.slice(0, 2).map(({ pod }) => link(pod, 'gives up too soon')),
      ],
      contributing: [],
      nextSteps: [
        text(
          `Set ${cut.name} back to ${cut.before}, or kubectl rollout undo ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace}`,
        ),
      ],
    },
  ];
};

const cutsBetween = (before: KubeObject, after: KubeObject): Cut[] =>
  ((podSpecOf(after).containers ?? []) as any[]).flatMap((container) => {
    const former = (podSpecOf(before).containers ?? []).find((entry: any) => entry.name === container.name);
    return ((container.env ?? []) as any[])
      .filter(({ name }) => bounding.test(name))
      .map(({ name }) => ({
        container: container.name,
        name,
        before: envOf(former, name),
        after: envOf(container, name),
      }))
      .filter((cut): cut is Cut => amountOf(cut.after) < amountOf(cut.before));
  });

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

/** `5s`, `150ms`, `2000`: comparable within one setting; NaN for what is no amount. */
const amountOf = (value: string | undefined): number => {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(value ?? '') ?? [];
  return Number(number ?? Number.NaN) * unitMs[unit]!;
};

/** The program's own complaint gives the new limit as the time after which it gave up. */
const statesLimit = (line: string, cut: Cut): boolean => {
  const limit = amountOf(cut.after) * (/_s(?:ec(?:ond)?s?)?$/i.test(cut.name) && /^\d+$/.test(cut.after) ? 1000 : 1);
  return [...line.matchAll(/(?<![\w.])(\d+(?:\.\d+)?)\s?(ms|s)\b/g)].some(
    ([, number, unit]) => Number(number) * unitMs[unit!]! === limit,
  );
};

const answeredElsewhere = (
  facts: ClusterFacts,
  workload: KubeObject,
  host: string,
  since: string,
): PodLogLine | undefined =>
  grep(
    facts,
    facts.all('Pod').filter((pod) => facts.workloadOf(pod) !== workload && facts.logsOf(pod).length > 0),
    succeeded,
  ).find((line) => line.text.includes(host) && (line.at ?? '') > since);
