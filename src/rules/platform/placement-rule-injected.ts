import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { type WaitingGroup, waitingGroups } from '../../facts/capacity/waiting.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { templateSpecOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';
import { nameOf, refusalEvidence, waitingChain } from '../waiting.ts';

/** Fields that decide where a pod may run, and the scheduler's words when one of them leaves no node. */
const placement: [string, RegExp][] = [
  ['topologySpreadConstraints', /topology spread/i],
  ['affinity', /affinity/i],
  ['nodeSelector', /node (?:affinity\/selector|selector|affinity)|incompatible requirements|no instance type/i],
];

/** Templates that cannot change under a pod: what differs from them was added to the pod alone. */
const fixedTemplate = /^(ReplicaSet|Job)$/;

export default rule({
  title: 'A placement rule that no template states was put into the pods at admission, and leaves no node for them',
  lookAlikes: [
    'a rule that the template itself states: the workload’s own',
    'what the DaemonSet controller adds to its pods',
    'a rule that some node satisfies',
  ],
  judge(facts, scope) {
    return waitingGroups(facts, scope).flatMap((group) => {
      const template = templateSpecOf(facts, group.sample);
      if (!template || !fixedTemplate.test(facts.ownerOf(group.sample)?.kind ?? '')) return [];
      const refused = [
        ...group.clauses.map(({ reason }) => reason),
        ...group.refusals.map((refusal) => refusal.text),
      ].join('\n');
      const added = placement
        .filter(([, words]) => words.test(refused))
        .map(([field]) => field)
        .filter((field) => differs(podSpecOf(group.sample)[field], template[field]));
      return added.length > 0 ? [injectedFinding(facts, group, template, added)] : [];
    });
  },
});

/** The pod states other than its template, in whatever order. */
const differs = (stated: unknown, template: unknown): boolean =>
  stated !== undefined && inOrder(stated) !== inOrder(template);

const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** Annotations in which policy engines note what they changed. */
const patches = /policies\.kyverno\.io\/last-applied-patches|gatekeeper\.sh\/|mutation/;

const injectedFinding = (facts: ClusterFacts, group: WaitingGroup, template: any, added: string[]): FindingDraft => {
  const { sample, workload, pods } = group;
  const evidence = cite('platform', facts);
  const spec = podSpecOf(sample);
  const note = Object.entries(sample.metadata.annotations ?? {}).find(([key]) => patches.test(key));
  const policy = note && /([\w-]+)\.([\w-]+)\.kyverno\.io/.exec(note[1])?.[2];
  const set = facts.ownerOf(sample);
  const what = added.map((field) => `${field} ${JSON.stringify(spec[field])}`).join('; ');
  return {
    mechanism: 'admission-denied',
    explains: ['scheduling', 'pool-mismatch', 'pending', 'rollout', 'unknown-symptom'],
    owner: 'platform',
    boundary: 'scheduling',
    strength: 'direct',
    cause: text(
      `${pods.length} pods of ${nameOf(workload)} wait because of ${what.slice(0, 240)}, which their template does not state and ${policy ? `policy ${policy}` : 'a policy'} put into them at admission; no node satisfies it.`,
    ),
    root: policy ? { kind: 'ClusterPolicy', name: policy } : refOf(workload),
    affects: [workload, ...pods].map(refOf),
    onset: group.since,
    evidence: [
      ...refusalEvidence(evidence, group),
      ...added.map((field) => evidence.field(sample, `spec.${field}`)),
      ...(set
        ? added.map((field) => evidence.field(set, `spec.template.spec.${field}`, template[field] ?? 'none'))
        : []),
      ...(note ? [evidence.field(sample, `metadata.annotations[${note[0]}]`, note[1].trim())] : []),
    ],
    chain: [
      { object: policy ? `ClusterPolicy ${policy}` : 'admission policy', claim: `adds ${added.join(', ')}` },
      ...waitingChain(group),
    ],
    contributing: [],
    nextSteps: [
      text(
        `Correct or exempt the policy that adds it, then delete the waiting pods: ${policy ? `kubectl get clusterpolicy ${policy} -o yaml` : 'kubectl get mutatingwebhookconfigurations'}`,
      ),
    ],
  };
};
