import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A part of the product turns work away although nobody outside is short. */
const turnsAway =
  /reject|refus|no (?:free )?(?:capacity|slots?|workers?)|max \w+ reached|(?:at|over|exceeds?|exceeded) (?:its )?capacity|capacity (?:reached|exceeded)|full\b.*\bactive/i;
/** The room a part of the product states or assumes for one node, worker or agent. */
const statesRoom = [
  /\bmax(?:_\w+)?[=:]\s*(\d+)\b/i,
  /\bper[_-](?:node|worker|host|agent|instance)[=:]\s*(\d+)\b/i,
  /\b(?:load|slots|used|usage|occupancy)[=:]\s*\d+\/(\d+)\b/i,
  /\b(?:capacity|slots)[=:]\s*(\d+)\b/i,
];
const roomSetting = /MAX|CAPACITY|SLOTS|PER_(NODE|WORKER|AGENT)/;

interface Statement {
  workload: KubeObject;
  room: number;
  line: PodLogLine;
}

export default rule({
  title: 'Parts of one product contradict each other about its capacity: one turns work away where another sees room',
  lookAlikes: [
    'nodes or quota are short: Pending pods or refused launches',
    'every part states the same limit and it is reached: more is needed',
  ],
  judge(facts, scope) {
    const namespaces = [
      ...new Set(scope.subjects.map((subject) => (subject.kind === 'Namespace' ? subject.name : subject.namespace))),
    ].filter((entry) => entry !== undefined);
    return namespaces.flatMap((namespace) => disagreement(facts, namespace, scope.workloads));
  },
});

const disagreement = (facts: ClusterFacts, namespace: string, subjects: KubeObject[]): FindingDraft[] => {
  const pods = facts.in('Pod', namespace);
  const refusals = grep(facts, pods, turnsAway);
  const statements = statementsOf(facts, pods);
  const refusing = new Set(refusals.map((line) => workloadOf(facts, line)));
  // The part with least room is the one that refuses; others may only pass its refusal on.
  const limit = statements.filter((entry) => refusing.has(entry.workload)).sort((a, b) => a.room - b.room)[0];
  const assumed = statements.filter((entry) => limit && entry.workload !== limit.workload && entry.room > limit.room);
  if (!limit || assumed.length === 0 || refusals.length === 0) return [];
  const parts = groupBy([limit, ...assumed], (entry) => nameOf(entry.workload)).map((group) => group[0]!);
  const owner = ownershipOf(facts, limit.workload);
  const evidence = cite(owner, facts);
  const setting = settingOf(limit.workload, limit.room);
  const refusal = refusals.findLast((line) => workloadOf(facts, line) === limit.workload) ?? refusals.at(-1)!;
  return [
    {
      mechanism: 'application-error',
      explains: ['unknown-symptom', 'load', 'dependency'],
      owner,
      boundary: 'config',
      strength: parts.length > 2 || setting ? 'direct' : 'derived',
      cause: text(
        `Parts of one product disagree about its capacity: ${parts.map((entry) => `${nameOf(entry.workload)} counts with ${entry.room}`).join(', ')}; so work goes where it is turned away ("${refusal.text.slice(0, 120)}") while nodes are not short.`,
      ),
      root: refOf(limit.workload),
      affects: [
        ...parts.map((entry) => entry.workload),
        ...subjects,
        ...pods.slice(0, 40),
        ...facts.in('Service', namespace),
      ].map(refOf),
      onset: earliest(...refusals.map((line) => line.at)),
      evidence: [
        evidence.log(refusal.log, refusal.text),
        ...parts.map((entry) => evidence.log(entry.line.log, entry.line.text)),
        ...(setting
          ? [
              evidence.field(
                limit.workload,
                `spec.template.spec.containers[].env[${setting.name}]`,
                setting.value,
                `${setting.name}=${setting.value}`,
              ),
            ]
          : []),
      ],
      chain: [...parts.map((entry) => link(entry.workload, `counts with ${entry.room}`))],
      contributing: [],
      nextSteps: [
        text(
          `Let all parts read one value: ${parts.map((entry) => nameOf(entry.workload)).join(', ')}${setting ? ` (${setting.name}=${setting.value} at the one that refuses)` : ''}.`,
        ),
      ],
    },
  ];
};

const workloadOf = (facts: ClusterFacts, line: PodLogLine): KubeObject =>
  facts.workloadOf(facts.find('Pod', line.log.pod, line.log.namespace)!);

const statementsOf = (facts: ClusterFacts, pods: KubeObject[]): Statement[] =>
  grep(facts, pods, /\d/).flatMap((line) =>
    statesRoom.flatMap((pattern): Statement[] => {
      const room = Number(pattern.exec(line.text)?.[1]);
      return room > 0 ? [{ workload: workloadOf(facts, line), room, line }] : [];
    }),
  );

const settingOf = (workload: KubeObject, room: number): { name: string; value: string } | undefined =>
  (podSpecOf(workload).containers ?? [])
    .flatMap((container: any) => container.env ?? [])
    .find((entry: any) => roomSetting.test(entry.name) && Number(entry.value) === room);
