import type { Mechanism, Strength } from '../../domain/finding.ts';
import { describeRef, type KubeObject, keyOf, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { historyOf, nameOfDelivery, undoOf } from '../../facts/changes/delivery.ts';
import { type FailedDelivery, failedDeliveries } from '../../facts/changes/failed-delivery.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { alertEvidence } from '../../facts/logs/witness.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import type { Scope } from '../../facts/scope.ts';
import { referencesOf } from '../../facts/workloads/references.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Reason {
  pattern: RegExp;
  /** `release`: whoever owns what is delivered. */
  owner: 'release' | 'platform' | 'undetermined';
  strength: Strength;
  boundary: Boundary;
  says: string;
  step: string;
}

/** Kinds of the API itself: a version of theirs that is gone was removed by an upgrade, and the manifest is old. */
const builtIn = String.raw`(?:apps|batch|extensions|policy|autoscaling|[a-z.]+\.k8s\.io)`;

/** What a failed delivery says of its cause; the first that fits counts, the outermost cause first. */
const reasons: Reason[] = [
  {
    pattern:
      /failed calling webhook|failed to call webhook|conversion webhook for .* failed|no endpoints available for service/i,
    owner: 'platform',
    strength: 'derived',
    boundary: 'admission',
    says: 'a webhook that the API server asks does not answer',
    step: 'Bring the webhook back: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations; then sync again.',
  },
  {
    pattern: /exceeded quota|must specify (?:limits|requests|cpu|memory)/i,
    owner: 'undetermined',
    strength: 'circumstantial',
    boundary: 'quota',
    says: 'a quota refuses it',
    step: 'kubectl describe resourcequota in the namespace it delivers to.',
  },
  {
    pattern:
      /admission webhook \\?"[^"]+" denied the request|violates PodSecurity|ValidatingAdmissionPolicy|policy .* (?:denied|violat)/i,
    owner: 'release',
    strength: 'direct',
    boundary: 'admission',
    says: 'a policy denies what it would apply',
    step: 'Correct the manifest that the policy names, or ask the policy’s owner for an exception.',
  },
  {
    pattern:
      /is forbidden: User \\?"[^"]+" cannot|(?:is )?not (?:permitted|allowed) in (?:project|AppProject)|do(?:es)? not match any of the allowed destinations|cannot (?:impersonate|patch|create|get|list) resource/i,
    owner: 'platform',
    strength: 'derived',
    boundary: 'config',
    says: 'the delivery tool may not do it',
    step: 'Grant the right to the tool’s service account or project, if it is meant to have it.',
  },
  {
    pattern: new RegExp(
      `no matches for kind "?\\w+"? in version "?${builtIn}/|no matches for kind "?\\w+"? in group "?${builtIn}"?`,
    ),
    owner: 'release',
    strength: 'direct',
    boundary: 'config',
    says: 'its manifests use an API version that this cluster no longer serves',
    step: 'Move the manifests to a served version: kubectl api-resources | grep -i the kind.',
  },
  {
    pattern: /no matches for kind|ensure CRDs are installed|could not find the requested resource|CRD .* not found/i,
    owner: 'platform',
    strength: 'circumstantial',
    boundary: 'config',
    says: 'the custom resource definition it needs is not installed',
    step: 'Install or bring back the operator that brings this kind: kubectl get crd.',
  },
  {
    pattern:
      /authentication required|authorization failed|permission denied \(publickey|invalid (?:username|credentials)|could not read Username|repository not found|401 Unauthorized|403 Forbidden|unable to clone|failed to checkout|failed to list refs|knownhosts|x509: |failed to (?:fetch|download|pull) (?:artifact|chart|manifest)|dial tcp|connection refused|could not resolve host/i,
    owner: 'platform',
    strength: 'derived',
    boundary: 'config',
    says: 'its source cannot be fetched',
    step: 'Check the credential and the reachability of the source: argocd repo list, or flux get sources all -A.',
  },
  {
    pattern:
      /is invalid:|unknown field|field is immutable|cannot unmarshal|error validating|error converting YAML|YAML (?:parse|to JSON)|yaml: |execution error at|nil pointer evaluating|template: |values don't meet|parse error|kustomize build|accumulating resources|app path does not exist|path not found|invalid ownership metadata|already exists|duplicate (?:key|entries)|manifest generation error|failed to (?:render|decode|parse)/i,
    owner: 'release',
    strength: 'direct',
    boundary: 'config',
    says: 'what it would apply is not valid',
    step: 'Correct the manifest, chart or values that it names, and sync again.',
  },
  {
    pattern: /hooks? failed|BackoffLimitExceeded|backoff limit|DeadlineExceeded|job\S* .*failed/i,
    owner: 'release',
    strength: 'derived',
    boundary: 'application',
    says: 'a hook job of it failed',
    step: 'Read the log of the hook’s job, repair it, and sync again.',
  },
];

/** What is waited for has a cause of its own: the delivery is the messenger. */
const waited: Omit<Reason, 'pattern'> = {
  owner: 'undetermined',
  strength: 'circumstantial',
  boundary: 'config',
  says: 'what it applied does not become ready',
  step: 'Look at the pods of what it delivers.',
};

export default rule({
  title: 'A sync, reconciliation or Helm upgrade failed, and what it should have brought is not there',
  lookAlikes: [
    'a delivery that failed and whose workloads run on: no cause of their trouble',
    'a delivery that waits for pods: the pods have a cause of their own',
    'a sync that failed once and succeeded later; one that is suspended or under way',
  ],
  judge(facts, scope) {
    return failedDeliveries(facts).flatMap((failed) => {
      const alerted = isAlerted(facts, failed);
      const victims = scope.workloads.filter((workload) => lacks(facts, workload, failed));
      return alerted || victims.length > 0 ? [deliveryFinding(facts, scope, failed, alerted, victims)] : [];
    });
  },
});

const deliveryFinding = (
  facts: ClusterFacts,
  scope: Scope,
  failed: FailedDelivery,
  alerted: boolean,
  victims: KubeObject[],
): FindingDraft => {
  const { delivery, message, parts } = failed;
  const hook = parts.find((part) => part.hook);
  const reason = reasons.find(({ pattern }) => pattern.test(message)) ?? (hook ? reasons.at(-1)! : waited);
  const owner = ownerOf(facts, failed, reason.owner);
  const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
  const last = historyOf(delivery).at(-1);
  const subjects = facts.subjects.filter((subject) => subject.name);
  const affects: ObjectRef[] = [
    refOf(delivery.object),
    ...parts.map((part) => part.ref),
    ...[...victims, ...victims.flatMap((victim) => facts.podsOf(victim))].map(refOf),
    ...(alerted
      ? subjects.map((subject) => ({ kind: subject.kind, name: subject.name!, namespace: subject.namespace }))
      : []),
  ];
  const undo = undoOf(delivery, delivery.object);
  const what = parts[0]
    ? ` (${parts
        .slice(0, 2)
        .map((part) => describeRef(part.ref))
        .join(', ')})`
    : '';
  return {
    mechanism: 'rollout',
    explains: explained(victims.length > 0),
    owner,
    boundary: owner === 'undetermined' ? null : reason.boundary,
    strength: reason.strength,
    cause: text(
      `${nameOfDelivery(delivery)} failed${failed.at ? ` at ${failed.at}` : ''} (${failed.reason}) because ${reason.says}${what}: "${message.slice(0, 240)}"${victims[0] ? `; ${describeRef(refOf(victims[0]))} needs what did not come` : ''}.`,
    ),
    root: refOf(delivery.object),
    affects: scope.wide && alerted ? 'cluster' : affects,
    onset: failed.at,
    evidence: [
      { ...evidence.field(delivery.object, failed.path, failed.reason, message.slice(0, 600)), at: failed.at },
      ...parts
        .filter((part) => part.path)
        .slice(0, 2)
        .map((part) => evidence.field(delivery.object, part.path, describeRef(part.ref), part.message)),
      ...(last ? [evidence.field(delivery.object, last.path, last.revision, `last delivered at ${last.at}`)] : []),
      ...(alerted && facts.alerts[0] ? [alertEvidence('platform', facts.alerts[0])] : []),
    ],
    chain: [
      link(delivery.object, reason.says),
      ...victims.slice(0, 2).map((victim) => link(victim, 'lacks what should have come')),
    ],
    nextSteps: [
      text(reason.step),
      ...(undo && owner !== 'platform' ? [text(`To return to what worked: ${undo}`)] : []),
    ],
    missing:
      owner === 'undetermined'
        ? [
            {
              layer: 'app',
              missing: `why what ${nameOfDelivery(delivery)} applied is refused or not ready`,
              fix: `kubectl get pods,events -n ${failed.namespace ?? delivery.namespace}`,
            },
          ]
        : [],
  };
};

const explained = (hasVictims: boolean): Mechanism[] => [
  'rollout',
  'unknown-symptom',
  ...(hasVictims ? (['config-missing', 'identity', 'crash', 'job', 'application-error', 'probe'] as const) : []),
];

const ownerOf = (
  facts: ClusterFacts,
  { namespace, delivery, parts }: FailedDelivery,
  owner: Reason['owner'],
): Owner => {
  if (owner !== 'release') return owner;
  const home = parts.find((part) => part.ref.namespace)?.ref.namespace ?? namespace;
  return ownershipOf(facts, { kind: 'Deployment', metadata: { name: delivery.name, namespace: home } });
};

/** The alert is about this delivery: it names it, and speaks of syncs, releases or reconciliations. */
const isAlerted = (facts: ClusterFacts, { delivery }: FailedDelivery): boolean =>
  facts.subjects.some(({ kind, name }) => kind === delivery.kind && name === delivery.name) ||
  facts.alerts.some(
    ({ labels }) =>
      /argo|flux|gitops|helm|sync|reconcil|kustomiz/i.test(labels.alertname ?? '') &&
      Object.values(labels).includes(delivery.name),
  );

/** A workload that failed to come itself, or whose template names something that did. */
const lacks = (facts: ClusterFacts, workload: KubeObject, { parts }: FailedDelivery): boolean => {
  const failed = new Set(parts.map((part) => keyOf(part.ref)));
  const needs = [workload, ...facts.podsOf(workload).slice(0, 1)].flatMap(referencesOf);
  return [refOf(workload), ...needs].some((ref) => failed.has(keyOf(ref)));
};
