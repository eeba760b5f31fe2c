import { refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import {
  citeRefusal,
  type RefusedCreation,
  refusedCreations,
  templateBornAt,
} from '../../facts/control-plane/refused-creations.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { minutesBetween } from '../../facts/time.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Refusal {
  pattern: RegExp;
  boundary: Boundary;
  says(match: RegExpExecArray): string;
  /** Kind of the namespaced object that may have come after the template. */
  newer?: 'ResourceQuota' | 'LimitRange';
  fix: string;
}

const refusals: Refusal[] = [
  {
    pattern: /failed quota: ([^:]+): must specify ([^\n]*)/,
    boundary: 'quota',
    says: (match) => `its template does not specify ${match[2]}, which ResourceQuota ${match[1]} demands`,
    newer: 'ResourceQuota',
    fix: 'Add the requests and limits the quota asks for to the pod template.',
  },
  {
    pattern:
      /((?:maximum|minimum) [\w.-]+ usage per \w+ is [^,]+(?:, but (?:request|limit) is [^,\s]+|\.\s+No (?:limit|request) is specified)?|(?<![\w.-])[\w.-]+ max limit to request ratio per \w+ is [^,]+, but provided ratio is \S+)/,
    boundary: 'admission',
    says: (match) => `its template breaks the namespace's LimitRange (${match[1]})`,
    newer: 'LimitRange',
    fix: 'Bring requests and limits of the template within the LimitRange.',
  },
  {
    pattern: /error looking up service account ([^:]+): serviceaccount "([^"]+)" not found/,
    boundary: 'config',
    says: (match) => `its template names the ServiceAccount ${match[1]}, which does not exist`,
    fix: 'Create the ServiceAccount, or correct serviceAccountName.',
  },
  {
    pattern: /no PriorityClass with name (\S+) was found/,
    boundary: 'config',
    says: (match) => `its template names the PriorityClass ${match[1]}, which does not exist`,
    fix: 'Correct priorityClassName, or have the class created.',
  },
  {
    pattern: /RuntimeClass[^"]*"([^"]+)" not found/,
    boundary: 'config',
    says: (match) => `its template names the RuntimeClass ${match[1]}, which does not exist`,
    fix: 'Correct runtimeClassName, or have the class created.',
  },
  {
    pattern: /(spec\.[\w.[\]]+: (?:Invalid value|Required value|Forbidden|Unsupported value)[^\n]*)/,
    boundary: 'config',
    says: (match) => `its pod template is not valid (${match[1]})`,
    fix: 'Correct the field the API server names.',
  },
  {
    pattern: /unable to create new content in namespace (\S+) because it is being terminated/,
    boundary: 'config',
    says: (match) => `namespace ${match[1]} is being deleted`,
    fix: 'Find who deleted the namespace, and what holds its finalizers.',
  },
];

export default rule({
  title: 'Pods are not created because the pod template does not meet what the API server asks of it',
  lookAlikes: [
    '"exceeded quota": the template is fine, the quota is used up',
    'a webhook that failed rather than refused',
  ],
  judge(facts, scope) {
    const refused = refusedCreations(facts, scope).flatMap((entry) => {
      const refusal = refusals.find((candidate) => candidate.pattern.test(entry.text));
      return refusal ? [{ entry, refusal }] : [];
    });
    return groupBy(refused, ({ entry }) => nameOf(entry.workload)).map((group): FindingDraft => {
      const { entry, refusal } = group.at(-1)!;
      const match = refusal.pattern.exec(entry.text)!;
      const later = refusal.newer && newerRule(facts, entry, refusal.newer);
      const owner = later ? 'platform' : ownershipOf(facts, entry.workload);
      const evidence = cite(owner, facts);
      const existing = refusal.newer ? facts.in(refusal.newer, entry.workload.metadata.namespace ?? '') : [];
      return {
        mechanism:
          refusal.boundary === 'quota'
            ? 'quota'
            : refusal.boundary === 'admission'
              ? 'admission-denied'
              : 'config-missing',
        explains: ['rollout', 'unknown-symptom', 'scaling-limit', 'job'],
        owner,
        boundary: refusal.boundary,
        strength: later ? 'derived' : 'direct',
        cause: text(
          `The API server refuses pods of ${nameOf(entry.workload)}: ${refusal.says(match)}${later ? `; the template is older than that rule, which came at ${later}` : ''}.`,
        ),
        root: later && existing[0] ? refOf(existing[0]) : refOf(entry.workload),
        affects: [entry.workload, entry.creator].map(refOf),
        onset: entry.at,
        evidence: [
          ...group.slice(-2).map((item) => citeRefusal(evidence, item.entry)),
          evidence.field(
            entry.creator,
            'spec.template.spec.containers',
            JSON.stringify(
              (entry.creator.spec?.template?.spec?.containers ?? []).map((container: any) => ({
                name: container.name,
                resources: container.resources,
              })),
            ),
          ),
          ...existing
            .slice(0, 2)
            .map((object) => evidence.field(object, object.kind === 'LimitRange' ? 'spec.limits' : 'status')),
        ],
        chain: [link(entry.creator, 'its pods are refused at admission'), link(entry.workload, 'lacks replicas')],
        contributing: [],
        nextSteps: [
          text(refusal.fix),
          text(`kubectl get events -n ${entry.workload.metadata.namespace} --field-selector reason=FailedCreate`),
        ],
      };
    });
  },
});

/** When a quota or limit range of the namespace came or changed after the template had already been running. */
const newerRule = (facts: ClusterFacts, entry: RefusedCreation, kind: string): string | undefined =>
  facts
    .in(kind, entry.workload.metadata.namespace ?? '')
    .map((object) => lastWriter(object, 'f:spec')?.time ?? object.metadata.creationTimestamp ?? '')
    .find((time) => minutesBetween(templateBornAt(entry), time) > 60 && minutesBetween(time, entry.at) >= -5);
