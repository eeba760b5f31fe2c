import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { templateChanges } from '../../facts/changes/template-diff.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import {
  citeRefusal,
  type RefusedCreation,
  refusedCreations,
  refusedEverywhere,
  templateBornAt,
} from '../../facts/control-plane/refused-creations.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { imageOf, revisionsOf } from '../../facts/workloads/workloads.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** A policy that answered and said no. A webhook that could not be asked reads "failed calling webhook". */
const denial =
  /admission webhook "([^"]+)" denied the request|violates (PodSecurity "[^"]+")|(ValidatingAdmissionPolicy '[^']+')[^:]*denied request|(unable to validate against any security context constraint)|(?:blocked|denied) by (?:the )?following polic/;
/** A refusal this long after the template was born was not there when the template began to run. */
const settledMinutes = 60;

export default rule({
  title:
    'A policy denies the pods of a workload: the new template breaks an old policy, or a new policy an old template',
  lookAlikes: [
    '"failed calling webhook": the webhook is down, nobody refused anything',
    'the template is old and runs elsewhere: the policy or the namespace label changed',
  ],
  judge(facts, scope) {
    const refused = refusedCreations(facts, scope).filter((entry) => denial.test(entry.text));
    return groupBy(refused, (entry) => nameOf(entry.workload)).map((group) => denialFinding(facts, group[0]!, group));
  },
});

const denialFinding = (facts: ClusterFacts, entry: RefusedCreation, group: RefusedCreation[]): FindingDraft => {
  const match = denial.exec(entry.text)!;
  const policy = match[1] ?? match[2] ?? match[3] ?? match[4] ?? 'an admission policy';
  const settled = minutesBetween(templateBornAt(entry), entry.at) > settledMinutes;
  const others = refusedEverywhere(facts).filter(
    (other) => other.text.includes(policy) && other.workload.metadata.namespace !== entry.workload.metadata.namespace,
  );
  const changed = policyChange(facts, policy, entry);
  const byPolicy = changed !== undefined || (settled && others.length > 0);
  const [current, previous] = revisionsOf(facts, entry.workload);
  const changes = current && previous ? templateChanges(previous, current) : [];
  const owner = byPolicy ? 'platform' : ownershipOf(facts, entry.workload);
  const evidence = cite(owner, facts);
  const reason = entry.text.slice(entry.text.search(denial)).replace(/\s+/g, ' ').slice(0, 260);
  return {
    mechanism: 'admission-denied',
    explains: ['rollout', 'scaling-limit', 'unknown-symptom', 'job'],
    owner,
    boundary: 'admission',
    strength: byPolicy || changes.length > 0 || !previous ? (settled && !byPolicy ? 'derived' : 'direct') : 'derived',
    cause: text(
      byPolicy
        ? `Policy ${policy} refuses pods of ${nameOf(entry.workload)}, whose template is older: ${changed ? `${changed.what} changed at ${changed.at}` : `${others.length} more workloads of other namespaces are refused alike`} (${reason}).`
        : `Policy ${policy} refuses the pods of ${nameOf(entry.workload)}: ${reason}${changes.length ? `; what changed in this revision: ${changes.slice(0, 2).join('; ')}` : ''}.`,
    ),
    root: changed ? refOf(changed.object) : refOf(entry.workload),
    affects: [entry.workload, entry.creator].map(refOf),
    onset: entry.at,
    evidence: [
      ...group.slice(0, 2).map((item) => citeRefusal(evidence, item)),
      evidence.field(
        entry.creator,
        'spec.template.spec.containers[0].image',
        imageOf(entry.creator),
        changes.join('; '),
      ),
      ...(changed ? [evidence.field(changed.object, 'metadata', `changed at ${changed.at}`)] : []),
      ...others.slice(0, 2).map((other) => citeRefusal(evidence, other)),
    ],
    chain: [
      ...(changed ? [link(changed.object, `changed at ${changed.at}`)] : []),
      link(entry.creator, `refused by ${policy}`),
      link(entry.workload, 'the rollout creates no pods'),
    ],
    contributing: [],
    nextSteps: [
      text(
        byPolicy
          ? `Decide whether ${policy} is meant to refuse what already runs; relax it or set it to audit, then tell the teams.`
          : `Change what the policy names in the pod template (${changes[0] ?? 'see the message'}), or ask for an exception to ${policy}.`,
      ),
      text(
        `kubectl rollout undo ${entry.workload.kind.toLowerCase()}/${entry.workload.metadata.name} -n ${entry.workload.metadata.namespace}`,
      ),
    ],
  };
};

/** A webhook configuration or namespace that changed after the template was born and before the first refusal. */
const policyChange = (
  facts: ClusterFacts,
  policy: string,
  entry: RefusedCreation,
): { object: KubeObject; what: string; at: string } | undefined => {
  const configurations = [...facts.all('ValidatingWebhookConfiguration'), ...facts.all('MutatingWebhookConfiguration')];
  const namespace = facts.find('Namespace', entry.workload.metadata.namespace);
  const candidates = [
    ...configurations.filter((object) => (object.webhooks ?? []).some((webhook: any) => webhook.name === policy)),
    ...(policy.startsWith('PodSecurity') && namespace ? [namespace] : []),
  ];
  return candidates
    .map((object) => ({
      object,
      what: nameOf(object),
      at: lastWriter(object)?.time ?? (object.kind === 'Namespace' ? '' : (object.metadata.creationTimestamp ?? '')),
    }))
    .find(({ at }) => minutesBetween(templateBornAt(entry), at) > settledMinutes && minutesBetween(at, entry.at) > -10);
};
