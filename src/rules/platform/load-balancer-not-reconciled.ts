import type { Strength } from '../../domain/finding.ts';
import { describeRef, type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { trailOf } from '../../facts/aws.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { type BalancerRefusal, balancerRefusals, harmedByRefusal } from '../../facts/network/balancer-refusals.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

interface Kind {
  pattern: RegExp;
  owner: Owner;
  boundary: Boundary;
  strength: Strength;
  says: string;
  step: string;
}

/** First match wins: a limit or a permission named in the text comes before the class of the error. */
const kinds: Kind[] = [
  {
    pattern:
      /CountLimitReached|LimitReached|TooMany(?:LoadBalancers|TargetGroups|Rules|Targets|Certificates|Listeners|UniqueTargetGroups)|AddressLimitExceeded|QUOTA_?EXCEEDED|quotaExceeded|Quota '[\w-]+' exceeded|LimitExceeded|exceeding (?:approved )?quota|QuotaExceed|Insufficient(?:Balance|Quota)/i,
    owner: 'platform',
    boundary: 'quota',
    strength: 'direct',
    says: 'a limit of the account is reached',
    step: 'Release what is no longer used (addresses, load balancers, rules) or have the limit raised.',
  },
  {
    pattern:
      /UnauthorizedOperation|AccessDenied|not authorized to perform|AuthorizationFailed|PERMISSION_DENIED|Forbidden\.RAM|RequestDisallowedByPolicy|WebIdentityErr|AssumeRoleWithWebIdentity/i,
    owner: 'platform',
    boundary: 'traffic',
    strength: 'direct',
    says: 'the controller lacks a permission at the cloud',
    step: 'Give the controller’s role back the action that the text names.',
  },
  {
    pattern:
      /unable to (?:resolve at least one|discover[^\n]*) subnet|couldn't auto-discover subnets|SubnetNotFound|InsufficientFreeAddresses|InvalidSubnet|SubnetIsFull|free (?:private )?IP|expect exactly one securityGroup|multiple tagged security groups/i,
    owner: 'platform',
    boundary: 'network',
    strength: 'direct',
    says: 'the network has no subnet, address or security group for it',
    step: 'Tag or enlarge the subnets, or put the security groups right, as the text says.',
  },
  {
    pattern:
      /certificate[^\n]{0,80}not (?:be )?found|CertificateNotFound|no certificate found|conflict|invalid|unsupported|malformed|ValidationError|must (?:be|specify|have)|not found: (?:service|secret)|services? "[^"]+" not found|BackendNotFound|unable to find (?:port|service)|duplicate/i,
    owner: 'app',
    boundary: 'config',
    strength: 'derived',
    says: 'what it asks for contradicts itself or names something that does not exist',
    step: 'Correct the annotation, certificate or backend that the text names.',
  },
  {
    pattern:
      /InternalError|InternalFailure|ServiceUnavailable|InternalServerError|StatusCode: 5\d\d|RESPONSE 5\d\d|googleapi: Error 5\d\d/i,
    owner: 'cloud',
    boundary: 'traffic',
    strength: 'derived',
    says: 'the vendor’s load balancer service answers with an error of its own',
    step: 'Open a support case with the request id and the times.',
  },
];

export default rule({
  title: 'A load balancer is not made, or its targets are not registered: the cloud refuses what the controller asks',
  lookAlikes: [
    'pods are well and their endpoints ready: the fault is before them',
    'containers are ready while a readiness gate stays open: nobody registers the target',
    'a limit of the own subscription or account, which reads like a fault of the vendor',
  ],
  judge(facts) {
    const refusals = balancerRefusals(facts);
    return refusals.map((refusal): FindingDraft => {
      const kind = kindOf(refusal);
      const owner = kind?.owner === 'app' ? ownershipOf(facts, standIn(refusal)) : (kind?.owner ?? 'undetermined');
      const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
      // What account or vendor refuse to objects of several namespaces is the controller's trouble as a whole.
      const alike = kind ? refusals.filter((other) => kindOf(other) === kind) : [];
      const wide = kind?.owner !== 'app' && new Set(alike.map((other) => other.object.namespace)).size > 1;
      const harmed = [...harmedByRefusal(facts, refusal), ...(wide ? controllersOf(facts) : [])];
      const gated = harmed
        .filter((ref) => ref.kind === 'Pod')
        .map((ref) => facts.resolve(ref))
        .filter((pod) => condition(pod, 'Ready')?.reason === 'ReadinessGatesNotReady');
      const change = kind?.boundary === 'traffic' ? permissionChange(facts, refusal) : undefined;
      return {
        mechanism: 'traffic',
        explains: ['traffic', 'rollout', 'probe', 'application-error', 'unknown-symptom'],
        owner,
        boundary: kind?.boundary ?? 'traffic',
        strength: wide ? 'direct' : (kind?.strength ?? 'circumstantial'),
        cause: text(
          `${describeRef(refusal.object)} is not brought to the load balancer because ${kind?.says ?? 'the controller fails'}: “${essence(refusal.text)}”${gated.length > 0 ? `; ${gated.length} pods with ready containers wait for their readiness gate` : ''}.`,
        ),
        root: refusal.object,
        affects: harmed,
        onset: refusal.since,
        evidence: [
          refusal.cite(evidence),
          ...alike
            .filter((other) => wide && other !== refusal)
            .slice(0, 2)
            .map((other) => other.cite(evidence)),
          ...gated.slice(0, 2).map((pod) => evidence.condition(pod!, 'Ready')),
          ...(change
            ? [evidence.aws('cloudtrail.lookupEvents', change.name, change.actor, change.text.slice(0, 400), change.at)]
            : []),
        ],
        chain: [
          { object: describeRef(refusal.object), uid: refusal.object.uid, claim: kind?.says ?? 'is not reconciled' },
          ...gated.slice(0, 2).map((pod) => ({
            object: `Pod ${pod!.metadata.namespace}/${pod!.metadata.name}`,
            uid: pod!.metadata.uid,
            claim: 'its readiness gate stays open',
          })),
        ],
        nextSteps: [text(kind?.step ?? 'Read the log of the load balancer controller.')],
        missing: kind
          ? []
          : [
              {
                layer: 'platform',
                missing: 'what the load balancer controller meets at the cloud',
                fix: 'kubectl logs -n kube-system deployment/aws-load-balancer-controller --since=1h (or the cloud controller manager’s log)',
              },
            ],
      };
    });
  },
});

const kindOf = (refusal: BalancerRefusal): Kind | undefined =>
  kinds.find((entry) => entry.pattern.test(refusal.text) || entry.pattern.test(refusal.reason));

const standIn = ({ object }: BalancerRefusal): KubeObject => ({ kind: object.kind, metadata: { ...object } });

const controller = /load-?balancer-controller|alb-ingress|cloud-controller-manager|ingress-gce/;

const controllersOf = (facts: ClusterFacts): ObjectRef[] => [
  ...facts
    .all('Deployment')
    .filter((workload) => controller.test(workload.metadata.name))
    .map(refOf),
  { kind: 'Cluster', name: facts.identity.name },
];

/** The message of the cloud without the request line around it. */
const essence = (words: string): string => {
  const message = /"message":\s*"([^"]+)"/.exec(words)?.[1];
  const code = /ERROR CODE: (\w+)|"code":\s*"(\w+)"/.exec(words);
  return (message ? `${code?.[1] ?? code?.[2] ?? ''}: ${message}` : words).replace(/\s+/g, ' ').slice(-260);
};

/** A change of the policies of the role that was refused, in the hours before. */
const permissionChange = (facts: ClusterFacts, { text: words }: BalancerRefusal) => {
  const role = /assumed-role\/([^/\s]+)/.exec(words)?.[1];
  return trailOf(facts).find(
    (event) =>
      /^(Put|Delete|Detach|Attach)RolePolicy$|^(UpdateAssumeRolePolicy|CreatePolicyVersion|SetDefaultPolicyVersion|PutRolePermissionsBoundary)$/.test(
        event.name,
      ) &&
      (!role || event.text.includes(role) || /load-?balancer|\balb\b|\blbc\b/i.test(event.text)),
  );
};
