import type { Evidence } from '../../domain/evidence.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { linesLike, timeOf } from '../logs/log-search.ts';
import { isReady } from '../pods.ts';
import { minutesBetween } from '../time.ts';

/** A load balancer or its targets could not be brought to what a Service or Ingress asks. */
export interface BalancerRefusal {
  object: ObjectRef;
  reason: string;
  text: string;
  at: string;
  since: string;
  cite(evidence: Cite): Evidence;
}

const reasons =
  /^(SyncLoadBalancerFailed|UpdateLoadBalancerFailed|CreatingLoadBalancerFailed|UnAvailableLoadBalancer|FailedBuildModel|FailedDeployModel|FailedNetworkReconcile|FailedReconcile|BackendNotFound|FailedLoadGroupID|ConflictingIngressClass|Translate|Sync)$/;
const kinds = /^(Service|Ingress|Gateway|TargetGroupBinding|IngressClass)$/;
/** A refusal that was not repeated for so long has been overcome. */
const currentMinutes = 60;

/** From events, and from the controller's log where those have expired; the last of each object. */
export const balancerRefusals = (facts: ClusterFacts): BalancerRefusal[] => {
  const events = facts.events
    .filter(
      (event) =>
        event.type === 'Warning' &&
        kinds.test(event.regarding.kind) &&
        reasons.test(event.reason) &&
        minutesBetween(event.lastAt, facts.now) <= currentMinutes,
    )
    .map(
      (event): BalancerRefusal => ({
        object: event.regarding,
        reason: event.reason,
        text: event.message,
        at: event.lastAt,
        since: event.firstAt,
        cite: (evidence) => evidence.event(event),
      }),
    );
  const logged = linesLike(facts, /"error"/, (log) => /load-?balancer|cloud-controller/.test(log.pod)).flatMap(
    ({ log, line }): BalancerRefusal[] => {
      const entry = json(line);
      const kind = { targetGroupBinding: 'TargetGroupBinding', ingress: 'Ingress', service: 'Service' }[
        String(entry?.controller)
      ];
      const at = timeOf(line, facts.now) ?? facts.now;
      if (!kind || !entry.namespace || minutesBetween(at, facts.now) > currentMinutes) return [];
      return [
        {
          object: { kind, name: entry.name ?? '', namespace: entry.namespace },
          reason: 'log',
          text: String(entry.error),
          at,
          since: at,
          cite: (evidence) => evidence.log(log, line),
        },
      ];
    },
  );
  return [...new Map([...logged, ...events].map((entry) => [keyFor(entry), entry])).values()];
};

const keyFor = ({ object, reason }: BalancerRefusal): string =>
  `${object.kind}/${object.namespace}/${object.name || reason}`;

const json = (line: string): any => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const healthGate = /^target-health\.(?:elbv2\.k8s\.aws|alb\.ingress\.k8s\.aws)\/(.+)$/;

/** Pods whose readiness waits for their targets in a load balancer, with the TargetGroupBinding that the gate names. */
export const waitingForTarget = (pod: KubeObject): string | undefined =>
  isReady(pod)
    ? undefined
    : (pod.spec?.readinessGates ?? [])
        .map((gate: any) => healthGate.exec(gate.conditionType ?? '')?.[1])
        .find((name: string | undefined) => name !== undefined);

/** Whom a refusal harms: the Service or Ingress, the pods whose gate it leaves open, and the workloads behind. */
export const harmedByRefusal = (facts: ClusterFacts, { object }: BalancerRefusal): ObjectRef[] => {
  const namespace = object.namespace ?? '';
  const own = facts.find(object.kind, object.name, namespace);
  const services =
    object.kind === 'Service'
      ? [object.name]
      : object.kind === 'TargetGroupBinding'
        ? [own?.spec?.serviceRef?.name]
        : (own?.spec?.rules ?? []).flatMap((entry: any) =>
            (entry.http?.paths ?? []).map((path: any) => path.backend?.service?.name),
          );
  const pods = facts.in('Pod', namespace);
  const behind = pods.filter((pod) =>
    facts.servicesOf(pod).some((service) => services.includes(service.metadata.name)),
  );
  const gated = pods.filter((pod) => {
    const binding = waitingForTarget(pod);
    return binding !== undefined && (binding === object.name || object.name === '');
  });
  return [
    object,
    ...services
      .filter((name: string | undefined) => name !== undefined)
      .map((name: string) => ({ kind: 'Service', name, namespace })),
    ...[...gated, ...behind].flatMap((pod) => [refOf(pod), refOf(facts.workloadOf(pod))]),
  ];
};
