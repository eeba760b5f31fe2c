import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import type { TrailEvent } from '../../facts/aws.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { foreignOidcId, roleArnOf, roleChange, trustPolicyOf } from '../../facts/control-plane/roles.ts';
import { grep, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { isVendorFailure } from '../../facts/logs/vendor-errors.ts';
import { ownershipOf, teamOf } from '../../facts/ownership.ts';
import { isReady, podSpecOf } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { revisionsOf, rolloutOf } from '../../facts/workloads/workloads.ts';
import { sharesWord } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The cloud does not accept who the pod says it is. */
const notAccepted =
  /AssumeRoleWithWebIdentity|AssumeRoleForPodIdentity|WebIdentityErr|No OpenIDConnect provider found|InvalidIdentityToken|NoCredentialProviders|Unable to locate credentials|could not (?:find|load) (?:default )?credentials|no EC2 IMDS role found|EC2MetadataError|iam\.serviceAccounts\.getAccessToken|AADSTS\d+|ManagedIdentityCredential|WorkloadIdentityCredential|DefaultAzureCredential failed/;
/** The cloud knows the pod and refuses an action. */
const notAllowed =
  /is not authorized to perform: ([\w-]+:\w+)|AccessDenied(?:Exception)?\b.{0,500}?(?<![\w-])([\w-]{1,64}:\w+)|IAM_PERMISSION_DENIED|AuthorizationFailed|PERMISSION_DENIED: Permission '([^']+)'/;

/** Annotations by which each cloud ties a ServiceAccount to an identity. */
const identityKeys = [
  'eks.amazonaws.com/role-arn',
  'iam.gke.io/gcp-service-account',
  'azure.workload.identity/client-id',
  'pod-identity.alibabacloud.com/role-name',
];

export default rule({
  title:
    "The cloud refuses a pod's identity: the service account changed, is not tied to a role, or the role does not trust it",
  lookAlikes: [
    'the new template dropped or changed serviceAccountName while the old revision works: the app team',
    'the service account is the annotated one and many workloads are refused: the identity provider or the trust policy',
    'the identity is accepted and one action is refused: a permission of the role',
    'the token service answers with a server error: the vendor, who refused nobody',
  ],
  judge(facts, scope) {
    // A server error is no refusal: nobody looked at who the pod is.
    const lines = grep(facts, scope.pods, notAccepted).filter((line) => !isVendorFailure(line.text));
    const refused = lines.length > 0 ? lines : grep(facts, scope.pods, notAllowed);
    return groupBy(refused, (line) => workloadName(facts, line)).map((group) =>
      identityFinding(facts, group, lines.length > 0),
    );
  },
});

const podOf = (facts: ClusterFacts, line: PodLogLine): KubeObject =>
  facts.find('Pod', line.log.pod, line.log.namespace)!;
const workloadName = (facts: ClusterFacts, line: PodLogLine): string => nameOf(facts.workloadOf(podOf(facts, line)));
const accountOf = (object: KubeObject): string => podSpecOf(object).serviceAccountName ?? 'default';

const identityFinding = (facts: ClusterFacts, group: PodLogLine[], unknown: boolean): FindingDraft => {
  const pod = podOf(facts, group.at(-1)!);
  const workload = facts.workloadOf(pod);
  const judged = judgeIdentity(facts, pod, workload, unknown, group.at(-1)!.text);
  const evidence = cite(judged.owner === 'undetermined' ? 'platform' : judged.owner, facts);
  const namespace = pod.metadata.namespace ?? '';
  const account = facts.find('ServiceAccount', accountOf(pod), namespace);
  const rollout = rolloutOf(facts, workload);
  return {
    mechanism: 'identity',
    explains: ['crash', 'probe', 'application-error', 'dependency', 'rollout', 'unknown-symptom'],
    owner: judged.owner,
    boundary: 'config',
    strength: judged.strength,
    cause: text(
      `The cloud refuses ${nameOf(workload)}, which runs as system:serviceaccount:${namespace}:${accountOf(pod)}: ${judged.because}.`,
    ),
    root: refOf(judged.root),
    affects: [workload, ...facts.podsOf(workload)].map(refOf),
    onset: judged.at ?? earliest(...group.map((line) => line.at)),
    evidence: [
      evidence.log(group.at(-1)!.log, group.at(-1)!.text),
      evidence.field(
        pod,
        'spec.serviceAccountName',
        accountOf(pod),
        `system:serviceaccount:${namespace}:${accountOf(pod)}`,
      ),
      ...(judged.former
        ? [
            evidence.field(
              judged.former,
              'spec.template.spec.serviceAccountName',
              accountOf(judged.former),
              'former revision',
            ),
          ]
        : []),
      ...(account
        ? [evidence.field(account, 'metadata.annotations', JSON.stringify(account.metadata.annotations ?? 'none'))]
        : []),
      ...judged.accounts
        .slice(0, 2)
        .map((entry) => evidence.field(entry, 'metadata.annotations', JSON.stringify(entry.metadata.annotations))),
      ...(judged.trust ? [evidence.aws('iam.getRole', 'Role.AssumeRolePolicyDocument', judged.trust)] : []),
      ...(judged.change
        ? [
            evidence.aws(
              'cloudtrail.lookupEvents',
              judged.change.name,
              judged.change.actor,
              `${judged.change.arn} ${/"requestParameters":(.*?)(?:,"readOnly"|$)/.exec(judged.change.text)?.[1] ?? ''}`.slice(
                0,
                500,
              ),
              judged.change.at,
            ),
          ]
        : []),
      ...(judged.at && !judged.change && rollout
        ? [evidence.field(rollout.current, 'metadata.creationTimestamp', rollout.at)]
        : []),
    ],
    chain: [link(judged.root, judged.because), link(pod, 'refused by the cloud')],
    contributing: [],
    nextSteps: [text(judged.step)],
    missing:
      judged.owner === 'undetermined' || judged.strength === 'circumstantial'
        ? [
            {
              layer: 'platform',
              missing: `the trust and permissions of the role of ${accountOf(pod)}`,
              fix: 'aws iam get-role / get-role-policy, or the IAM bindings of the account; CloudTrail event of the refused call',
            },
          ]
        : [],
  };
};

interface Judged {
  owner: Owner;
  strength: Strength;
  because: string;
  step: string;
  root: KubeObject;
  accounts: KubeObject[];
  former?: KubeObject;
  at?: string;
  trust?: unknown;
  change?: TrailEvent;
}

const judgeIdentity = (
  facts: ClusterFacts,
  pod: KubeObject,
  workload: KubeObject,
  unknown: boolean,
  said: string,
): Judged => {
  const namespace = pod.metadata.namespace ?? '';
  const owner = ownershipOf(facts, workload);
  const name = accountOf(pod);
  const accounts = facts
    .in('ServiceAccount', namespace)
    .filter((entry) => entry.metadata.name !== name && isTied(entry));
  const account = facts.find('ServiceAccount', name, namespace);
  const [current, previous] = revisionsOf(facts, workload);
  const base = { root: workload, accounts };
  if (unknown && current && previous && accountOf(previous) !== name) {
    const works = facts.childrenOf(previous).filter(isReady).length;
    return {
      ...base,
      owner,
      strength: 'direct',
      because: `its new template uses ServiceAccount ${name} where the former one used ${accountOf(previous)}${works ? `, whose ${works} pods still work` : ''}`,
      step: `Set serviceAccountName: ${accountOf(previous)} in the template again.`,
      former: previous,
      at: current.metadata.creationTimestamp,
    };
  }
  if (unknown && (!account || !isTied(account)) && accounts.length > 0)
    return {
      ...base,
      owner,
      strength: 'derived',
      because: `ServiceAccount ${name} is tied to no role, while ${accounts.map((entry) => entry.metadata.name).join(', ')} of the namespace is`,
      step: `Run the workload under the annotated ServiceAccount, or annotate ${name}.`,
    };
  const arn = roleArnOf(account, pod);
  const trust = trustPolicyOf(facts, arn);
  const change = roleChange(facts, arn, unknown ? 'trust' : 'policy');
  const foreign = unknown ? foreignOidcId(facts, trust) : undefined;
  if (change || foreign) {
    const own =
      change &&
      [namespace, teamOf(workload), workload.metadata.name].some(
        (word) => sharesWord(change.actor, word) || sharesWord(change.arn.split('/')[1], word),
      );
    return {
      ...base,
      owner: own ? owner : 'platform',
      strength: 'direct',
      because: [
        change
          ? `the ${unknown ? 'trust policy' : 'policies'} of its role ${arn!.split('/').at(-1)} ${unknown ? 'was' : 'were'} changed at ${change.at} by ${change.actor} (${change.name})`
          : '',
        foreign ? `its role trusts the OIDC provider ${foreign}, which is not this cluster's` : '',
      ]
        .filter(Boolean)
        .join('; '),
      step: unknown
        ? "Put the role's trust policy right (OIDC provider of this cluster, sub condition), and apply it from where it is kept."
        : 'Give the role back the permission that was taken, or agree the change with its users.',
      trust,
      change,
      at: change?.at,
    };
  }
  if (
    unknown &&
    trust &&
    !JSON.stringify(trust).includes(`:${namespace}:${name}`) &&
    !JSON.stringify(trust).includes(`${namespace}:*`)
  )
    return {
      ...base,
      owner: 'platform',
      strength: 'direct',
      because: `the trust policy of its role does not name system:serviceaccount:${namespace}:${name}`,
      step: "Correct the role's trust policy (sub condition and OIDC provider of this cluster).",
      trust,
    };
  const others = unknown
    ? grep(
        facts,
        facts.all('Pod').filter((other) => other.metadata.namespace !== namespace),
        notAccepted,
      ).filter((line) => !isVendorFailure(line.text))
    : [];
  if (others.length > 0 || /No OpenIDConnect provider|InvalidIdentityToken/.test(said))
    return {
      ...base,
      owner: 'platform',
      strength: 'derived',
      because:
        others.length > 0
          ? 'pods of other namespaces are refused as well'
          : "the account does not know the cluster's OIDC provider",
      step: 'Check the OIDC provider of the cluster in IAM, the pod identity agent and its webhook.',
    };
  const rollout = rolloutOf(facts, workload);
  return unknown
    ? {
        ...base,
        owner: 'platform',
        strength: 'circumstantial',
        because: 'the role of its ServiceAccount does not let it in, and the template did not change',
        step: "Compare the role's trust policy with the service account and the OIDC provider of this cluster.",
      }
    : {
        ...base,
        owner: 'undetermined',
        strength: 'circumstantial',
        because: `its identity is accepted and an action is refused (${notAllowed.exec(said)?.slice(1).find(Boolean) ?? 'see the log'})`,
        step: "Compare the role's policies with what the release calls; look for a change of the policy in the audit trail.",
        at: rollout?.previous ? rollout.at : undefined,
      };
};

const isTied = (account: KubeObject): boolean => identityKeys.some((key) => account.metadata.annotations?.[key]);
