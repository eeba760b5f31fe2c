import type { Strength } from '../../domain/finding.ts';
import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Layer } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isPlatformNamespace, ownershipOf } from '../../facts/ownership.ts';
import { vendorOf } from '../../facts/provider.ts';
import { selects } from '../../facts/selectors.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Reasons of service controllers, the AWS Load Balancer Controller and Google's ingress controller. */
const reasons =
  /^(SyncLoadBalancerFailed|CreatingLoadBalancerFailed|UpdateLoadBalancerFailed|DeleteLoadBalancerFailed|FailedBuildModel|FailedDeployModel|FailedReconcile|FailedNetworkReconcile|BackendNotFound|Sync|Translate)$/;
const kinds = /^(Service|Ingress|Gateway|TargetGroupBinding)$/;
const recentMinutes = 90;
const controllers = /load-balancer-controller|alb-ingress|cloud-controller-manager|ingress-gce|l7-default|gateway-api/;
const aboutBalancers = /load ?balancer|ingress|external (address|ip)|\b[ane]lb\b|targetgroup|reconcil/i;

interface Meaning {
  pattern: RegExp;
  owner: Layer | 'object';
  boundary: Boundary;
  says: string;
  step: string;
}

/** What the refusal says, the most telling first: a limit is often answered with 403, so it stands before denials. */
const meanings: Meaning[] = [
  {
    pattern:
      /quota|TooMany(?!Requests)\w+|(Limit|Count)(Reached|Exceeded|Full)|LimitExceeded|Cannot create more than|maximum number of|exceed\w* the (limit|maximum)|InsufficientBalance|Arrearage/i,
    owner: 'platform',
    boundary: 'quota',
    says: 'a limit of the own account is reached',
    step: 'Raise the quota, or free what is no longer used (addresses, balancers, rules, security groups).',
  },
  {
    pattern:
      /AccessDenied|UnauthorizedOperation|not authorized|AuthorizationFailed|Forbidden|PERMISSION_DENIED|AssumeRole|WebIdentityErr|explicit deny/i,
    owner: 'platform',
    boundary: 'config',
    says: "the controller's identity may not do it",
    step: "Compare the policy of the controller's role with what its version asks for, and look for a change of the role.",
  },
  {
    pattern:
      /auto-?discover subnets|resolve at least one subnet|at least two availability zones|multiple tagged security groups|expect exactly one securityGroup|InsufficientFreeAddresses|free (ip )?addresses|SubnetNotFound|InvalidSubnet|subnet .{0,60}(not exist|not found)|SubnetIsFull|security group .{0,60}not (exist|found)|InvalidGroup/i,
    owner: 'platform',
    boundary: 'network',
    says: 'the subnets, groups or tags of the cluster do not offer what it needs',
    step: 'Check the tags kubernetes.io/role/elb and kubernetes.io/cluster/<name>, free addresses, and that each node has one tagged security group.',
  },
  {
    pattern:
      /no certificate found|certificate .{0,80}(not found|does not exist|expired)|CertificateNotFound|UnsupportedCertificate/i,
    owner: 'object',
    boundary: 'config',
    says: 'no certificate fits the host it names',
    step: 'Correct the host in the Ingress, or request a certificate for it.',
  },
  {
    pattern:
      /(service|port|backend|secret|target).{0,80}(not found|does not exist|could not find)|could not find (service|port)|BackendNotFound|conflict|invalid|unsupported|ValidationError|malformed|must be|annotation|DuplicateListener|PriorityInUse|unexpected backend/i,
    owner: 'object',
    boundary: 'config',
    says: 'what it asks for is wrong',
    step: 'Correct the object: its backend, port, class and annotations.',
  },
  {
    pattern:
      /StatusCode: 50\d|\b50[0-4]\b|ServiceUnavailable|InternalError|InternalFailure|InternalServerError|internal error|backendError|temporarily unavailable|AllocationFailed/i,
    owner: 'cloud',
    boundary: 'network',
    says: "the vendor's load balancing service fails",
    step: 'Open a case with the vendor: region, request ids and times of the failed calls.',
  },
];

export default rule({
  title: 'A load balancer is not made or not changed; the refusal says whether object, account or vendor is at fault',
  lookAlikes: [
    'the balancer exists and its targets are unhealthy: the pods',
    '403 that names a quota: a limit, not a permission',
    'every object fails alike: the controller or the vendor, not one Ingress',
  ],
  judge(facts, scope) {
    const events = facts.events.filter(
      (event) =>
        event.type === 'Warning' &&
        kinds.test(event.regarding.kind) &&
        reasons.test(event.reason) &&
        minutesBetween(event.lastAt, facts.now) < recentMinutes,
    );
    const judged = events.flatMap((event) => {
      const meaning = meanings.find((entry) => entry.pattern.test(event.message));
      return meaning ? [{ event, meaning }] : [];
    });
    const spoken = facts.alerts.some((alert) =>
      aboutBalancers.test(`${Object.values(alert.labels).join(' ')} ${Object.values(alert.annotations).join(' ')}`),
    );
    return groupBy(judged, ({ event, meaning }) => groupKey(event, meaning)).map((group) => {
      const { event, meaning } = group[0]!;
      const objects = [
        ...new Map(group.map((entry) => [keyOfEvent(entry.event), objectOf(facts, entry.event)])).values(),
      ];
      const owner = meaning.owner === 'object' ? ownershipOf(facts, objects[0]!) : meaning.owner;
      const namespaces = new Set(objects.map((object) => object.metadata.namespace)).size;
      const shared = meaning.owner !== 'object';
      const evidence = cite(owner, facts);
      const strength: Strength = !spoken
        ? 'derived'
        : meaning.owner === 'cloud' && namespaces < 2
          ? 'derived'
          : 'direct';
      return {
        mechanism: 'network' as const,
        explains: ['unknown-symptom' as const, 'rollout' as const, 'dependency' as const],
        owner,
        boundary: meaning.boundary,
        strength,
        cause: text(
          `${objects.length === 1 ? nameOf(objects[0]!) : `${objects.length} objects in ${namespaces} namespaces (${nameOf(objects[0]!)} …)`}: ${meaning.says} (“${event.message.slice(0, 220)}”).`,
        ),
        root: refOf(objects[0]!),
        affects: [
          ...objects,
          ...(spoken ? objects.flatMap((object) => behind(facts, object)) : []),
          ...(shared ? facts.all('Deployment').filter((entry) => isController(entry)) : []),
        ]
          .map(refOf)
          .concat(shared && scope.wide ? [{ kind: 'Cluster', name: facts.identity.name }] : []),
        onset: earliest(...group.map((entry) => entry.event.firstAt)),
        evidence: [
          ...[...new Map(group.map((entry) => [keyOfEvent(entry.event), entry.event])).values()]
            .slice(0, 4)
            .map((entry) => evidence.event(entry)),
          ...objects
            .slice(0, 1)
            .filter((object) => object.spec)
            .map((object) => evidence.field(object, 'status.loadBalancer', object.status?.loadBalancer ?? {})),
          ...objects
            .slice(0, 1)
            .filter((object) => meaning.owner === 'object' && object.kind === 'Ingress' && object.spec?.rules)
            .map((object) => evidence.field(object, 'spec.rules')),
        ],
        chain: objects.slice(0, 3).map((object) => link(object, meaning.says)),
        nextSteps: [
          text(meaning.step.replace('the vendor', vendorOf(facts))),
          text(
            `kubectl describe ${objects[0]!.kind.toLowerCase()} ${objects[0]!.metadata.name} -n ${objects[0]!.metadata.namespace}`,
          ),
        ],
      };
    });
  },
});

/** One object's own fault stands for itself; a fault of account or vendor is one for all. */
const groupKey = (event: KubeEvent, meaning: Meaning): string =>
  meaning.owner === 'object' ? `${meaning.says}/${keyOfEvent(event)}` : meaning.says;

const keyOfEvent = ({ regarding }: KubeEvent): string => `${regarding.kind}/${regarding.namespace}/${regarding.name}`;

const objectOf = (facts: ClusterFacts, { regarding }: KubeEvent): KubeObject =>
  facts.resolve(regarding) ?? {
    kind: regarding.kind,
    metadata: { name: regarding.name, namespace: regarding.namespace, uid: regarding.uid },
  };

const isController = (workload: KubeObject): boolean =>
  isPlatformNamespace(workload.metadata.namespace ?? '') && controllers.test(workload.metadata.name);

/** Services and workloads that wait for the balancer. */
const behind = (facts: ClusterFacts, object: KubeObject): KubeObject[] => {
  const namespace = object.metadata.namespace ?? '';
  const names: string[] =
    object.kind === 'Service'
      ? [object.metadata.name]
      : (object.spec?.rules ?? []).flatMap((entry: any) =>
          (entry.http?.paths ?? []).map((path: any) => path.backend?.service?.name),
        );
  const services = names
    .map((name) => facts.find('Service', name, namespace))
    .filter((service) => service?.spec?.selector !== undefined) as KubeObject[];
  return services.flatMap((service) => {
    const pods = facts
      .in('Pod', namespace)
      .filter((pod) => selects({ matchLabels: service.spec.selector }, pod.metadata.labels));
    return [service, ...pods, ...pods.map((pod) => facts.workloadOf(pod))];
  });
};
