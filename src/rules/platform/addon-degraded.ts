import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isTroubled } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** Issue codes of DescribeAddon, by whose work ends them. Replicas that are short are a symptom: their pods tell. */
const codes: [RegExp, Owner, Boundary, string][] = [
  [/^InternalFailure$/, 'cloud', 'control-plane', 'EKS fails at it with an error of its own'],
  [
    /^(AccessDenied|AddonPermissionFailure)$/,
    'platform',
    'config',
    'its role lacks a permission, or EKS may not change what it consists of',
  ],
  [
    /^(ConfigurationConflict|UnsupportedAddonModification|K8sResourceNotFound|AddonSubscriptionNeeded)$/,
    'platform',
    'config',
    'its configuration conflicts with what is in the cluster',
  ],
  [/^AdmissionRequestDenied$/, 'platform', 'admission', 'a policy of the cluster refuses its objects'],
];
/** What the objects of an add-on are called, where that is not the add-on’s own name. */
const parts: Record<string, RegExp> = {
  'vpc-cni': /^aws-node/,
  'aws-ebs-csi-driver': /^ebs-csi/,
  'aws-efs-csi-driver': /^efs-csi/,
  'eks-pod-identity-agent': /^eks-pod-identity/,
  'eks-node-monitoring-agent': /^(eks-)?node-monitoring/,
};

export default rule({
  title: 'A managed add-on is degraded or its update failed, for a reason that EKS names',
  lookAlikes: [
    'InsufficientNumberOfReplicas: its pods say why they do not run',
    'an add-on that is degraded while the incident is about something else',
  ],
  judge(facts, scope) {
    const addon = facts.cloud('eks.describeAddon')?.addon;
    if (!/^(DEGRADED|CREATE_FAILED|UPDATE_FAILED|DELETE_FAILED)$/.test(addon?.status ?? '')) return [];
    const name: string = addon.addonName ?? '';
    const issues: any[] = addon.health?.issues ?? [];
    const known = issues.flatMap((issue, index) => {
      const entry = codes.find(([pattern]) => pattern.test(issue.code ?? ''));
      return entry ? [{ issue, index, owner: entry[1], boundary: entry[2], says: entry[3] }] : [];
    })[0];
    const own = partsOf(facts, name);
    const harmed = [...own.filter((pod) => isTroubled(pod)), ...own.map((pod) => facts.workloadOf(pod))];
    if (!known || !touches(scope, own, name)) return [];
    const owner = known.owner as 'cloud' | 'platform';
    const evidence = cite(owner, facts);
    const path = `addon.health.issues[${known.index}]`;
    const finding: FindingDraft = {
      mechanism: 'controller-down',
      explains: [
        'node-not-initialized',
        'sandbox-network',
        'volume',
        'dns',
        'identity',
        'rollout',
        'crash',
        'unknown-symptom',
      ],
      owner,
      boundary: known.boundary,
      strength: owner === 'cloud' ? 'derived' : 'direct',
      cause: text(
        `Add-on ${name} ${addon.addonVersion ?? ''} is ${addon.status}: ${known.says} (${known.issue.code}: ${(known.issue.message ?? '').slice(0, 200)}).`,
      ),
      root: { kind: 'Addon', name },
      affects: [...harmed.map(refOf), ...(scope.wide ? [{ kind: 'Cluster', name: facts.identity.name }] : [])],
      onset: addon.modifiedAt,
      evidence: [
        evidence.aws('eks.describeAddon', 'addon.status', addon.status, name, addon.modifiedAt),
        evidence.aws('eks.describeAddon', path, known.issue.code, known.issue.message ?? ''),
        ...own
          .filter((pod) => isTroubled(pod))
          .slice(0, 2)
          .map((pod) => evidence.condition(pod, 'Ready')),
      ],
      chain: [
        { object: `Add-on ${name}`, claim: `${addon.status}: ${known.issue.code}` },
        ...harmed.slice(0, 2).map((object) => link(object, `${nameOf(object)} belongs to it`)),
      ],
      nextSteps: [
        text(
          owner === 'cloud'
            ? 'Open a case with AWS, naming the add-on, its version and the time of the last update.'
            : `aws eks describe-addon --cluster-name ${facts.identity.name} --addon-name ${name}; put right what it names and update again, with --resolve-conflicts PRESERVE or OVERWRITE where fields conflict.`,
        ),
      ],
    };
    return [finding];
  },
});

const partsOf = (facts: ClusterFacts, addon: string): KubeObject[] => {
  const pattern = parts[addon] ?? new RegExp(`^${addon.replace(/[^a-z0-9-]/g, '')}`);
  return facts.in('Pod', 'kube-system').filter((pod) => pattern.test(pod.metadata.name));
};

const touches = (scope: Scope, own: KubeObject[], name: string): boolean =>
  scope.wide ||
  own.some((pod) => scope.has(refOf(pod))) ||
  scope.subjects.some((subject) => subject.name === name || (parts[name]?.test(subject.name ?? '') ?? false));
