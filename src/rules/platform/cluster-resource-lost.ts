import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { trailOf } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { failedChecks } from '../../facts/control-plane/apiserver.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { failedReads, readEvidence } from '../../facts/logs/witness.ts';
import { isManaged } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Codes of EKS' cluster health and of failed updates that name something of the customer's own. */
const own: [RegExp, Boundary, string][] = [
  [
    /^Kms(GrantRevoked|KeyNotFound|KeyMarkedForDeletion|KeyDisabled)$/,
    'control-plane',
    'the key that encrypts its secrets',
  ],
  [/^(Ec2)?(SubnetNotFound|SecurityGroupNotFound)$|^(VpcNotFound|VpcIdNotFound)$/, 'network', 'its network'],
  [/^(InsufficientFreeAddresses|IpNotAvailable|EniLimitReached)$/, 'network', 'addresses in its subnets'],
  [
    /^(IamRoleNotFound|AccessDenied|OperationNotPermitted|Ec2ServiceNotSubscribed|StsRegionalEndpointDisabled)$/,
    'config',
    'its role or a setting of its account',
  ],
  [/^(ResourceLimitExceeded)$/, 'quota', 'a limit of its account'],
  [
    /^(UnsupportedVersion|ConfigurationConflict|AdmissionRequestDenied|UnsupportedAddonModification|K8sResourceNotFound)$/,
    'config',
    'its configuration',
  ],
];
const decrypting =
  /failed to decrypt DEK|unable to transform key|kms-provider|envelope.*(decrypt|encrypt)|KMS.{0,40}(disabled|pending deletion|not found)/i;
/** Calls that take such a thing away. */
const removing =
  /^(DisableKey|ScheduleKeyDeletion|RevokeGrant|RetireGrant|PutKeyPolicy|DeleteAlias|DeleteSubnet|DeleteSecurityGroup|DeleteVpc|DeleteRole|DetachRolePolicy|DeleteRolePolicy|PutRolePolicy|DeleteNetworkInterface)$/;

interface Issue {
  code: string;
  message: string;
  resources: string[];
  call: string;
  path: string;
  at?: string;
}

export default rule({
  title: 'The control plane lost something of the customer’s that it leans on: key, subnet, group, role',
  lookAlikes: [
    'the control plane itself is ill: InternalFailure, etcd, no code at all',
    'readiness fails on other checks than the key provider',
  ],
  judge(facts, scope) {
    const issues = issuesOf(facts);
    const checks = failedChecks(facts);
    const keyCheck = checks.length > 0 && checks.every((check) => /^kms-provider/.test(check));
    const known = issues.flatMap((issue) => {
      const entry = own.find(([pattern]) => pattern.test(issue.code));
      return entry ? [{ issue, boundary: entry[1], what: entry[2] }] : [];
    });
    const lines = linesLike(facts, decrypting);
    const events = facts.events.filter((event) => decrypting.test(event.message));
    const reads = failedReads(facts, decrypting);
    const keyTrouble = keyCheck || (lines.length + events.length + reads.length >= 2 && checks.length === 0);
    const first = known.find(({ issue }) => !keyTrouble || /^Kms/.test(issue.code)) ?? known[0];
    // An issue that lingers explains an incident of the whole cluster, or one whose machine text names the key.
    if (!keyTrouble && !(first && scope.wide)) return [];
    const named = first?.issue.resources.map((id) => id.split(/[:/]/).at(-1)!) ?? [];
    const removals = trailOf(facts).filter(
      (entry) =>
        removing.test(entry.name) &&
        !entry.error &&
        (named.some((id) => entry.text.includes(id)) || (named.length === 0 && /Key|Grant/.test(entry.name))),
    );
    const [removal] = removals.slice(-1);
    const ready = facts.probe('readyz');
    const evidence = cite('platform', facts);
    const what = first?.what ?? 'the key that encrypts its secrets';
    return [
      {
        mechanism: 'control-plane',
        explains: [
          'control-plane',
          'etcd',
          'controller-down',
          'volume',
          'config-missing',
          'crash',
          'pending',
          'rollout',
          'webhook',
          'identity',
          'unknown-symptom',
          'scaling-metrics',
        ],
        owner: 'platform',
        boundary: first?.boundary ?? 'control-plane',
        strength: first ? 'direct' : 'derived',
        cause: text(
          `The control plane lost ${what}${first ? ` (${first.issue.code}: ${first.issue.message})` : `: ${checks.join(', ') || 'secrets cannot be decrypted'}`}${removal ? `; ${removal.actor || 'somebody of the account'} called ${removal.name} at ${removal.at}` : ''}.`,
        ),
        root: { kind: first ? 'ClusterHealthIssue' : 'APIServer', name: first?.issue.code ?? facts.identity.name },
        affects: 'cluster',
        onset: earliest(removal?.at, ...events.map((event) => event.firstAt)),
        evidence: [
          ...known
            .slice(0, 2)
            .map(({ issue }) =>
              evidence.aws(
                issue.call,
                issue.path,
                issue.code,
                `${issue.message} ${issue.resources.join(' ')}`,
                issue.at,
              ),
            ),
          ...removals
            .slice(-2)
            .map((entry) =>
              evidence.aws(
                'cloudtrail.lookupEvents',
                'Events',
                `${entry.name} by ${entry.actor}`,
                `${entry.arn} ${entry.userAgent} ${named.find((id) => entry.text.includes(id)) ?? ''}`.trim(),
                entry.at,
              ),
            ),
          ...(ready && ready.status !== 200 ? [evidence.probe(ready)] : []),
          ...events.slice(-2).map((event) => evidence.event(event)),
          ...lines.slice(-1).map((entry) => evidence.log(entry.log, entry.line)),
          ...reads.slice(0, 1).map((read) => readEvidence('platform', facts, read)),
        ],
        chain: [
          ...(removal ? [{ object: `${removal.name} by ${removal.actor}`, claim: `at ${removal.at}` }] : []),
          { object: `control plane of ${facts.identity.name}`, claim: `lacks ${what}` },
        ],
        nextSteps: [
          text(
            /key/.test(what)
              ? 'Enable the key again or cancel its deletion, and restore its grants: aws kms describe-key --key-id <id>; aws kms enable-key --key-id <id>'
              : `Give it back or point the cluster elsewhere: aws eks describe-cluster --name ${facts.identity.name} --query cluster.health`,
          ),
          ...(removal ? [text(`Stop what removed it: ${removal.actor} (${removal.userAgent}).`)] : []),
        ],
        contributing: [],
        missing:
          first || !isManaged(facts)
            ? []
            : [
                {
                  layer: 'cloud',
                  missing: 'the state of the encryption key',
                  fix: "read the cluster's health issues and the key: aws eks describe-cluster; aws kms describe-key",
                },
              ],
      },
    ];
  },
});

/** Issues of the cluster's health, and errors of updates that failed. */
const issuesOf = (facts: ClusterFacts): Issue[] => {
  const health: any[] = facts.cloud('eks.describeCluster')?.cluster?.health?.issues ?? [];
  const update = facts.cloud('eks.describeUpdate')?.update;
  const errors: any[] = update?.status === 'Failed' ? (update.errors ?? []) : [];
  return [
    ...errors.map((error, index) => ({
      code: error.errorCode ?? '',
      message: error.errorMessage ?? '',
      resources: error.resourceIds ?? [],
      call: 'eks.describeUpdate',
      path: `update.errors[${index}]`,
      at: update.createdAt,
    })),
    ...health.map((issue, index) => ({
      code: issue.code ?? '',
      message: issue.message ?? '',
      resources: issue.resourceIds ?? [],
      call: 'eks.describeCluster',
      path: `cluster.health.issues[${index}]`,
    })),
  ];
};
