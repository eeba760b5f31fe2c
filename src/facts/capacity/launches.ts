import type { Evidence } from '../../domain/evidence.ts';
import { type KubeEvent, type ObjectRef, refOf } from '../../domain/kubernetes.ts';
import type { Cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { condition } from '../conditions.ts';
import { onceFor } from '../lazy.ts';
import { linesOf } from '../logs/log-search.ts';
import { instanceDeaths } from '../nodes/instance-deaths.ts';
import { statusMapOf, statusOf } from './autoscaler-status.ts';
import { groupIn, groupName, isoTime } from './autoscaler-words.ts';
import { type LaunchKind, launchKindOf } from './launch-kind.ts';
import { poolNameOf } from './pools.ts';

/** One refusal to create a machine for the cluster, whoever wrote it down. */
export interface LaunchFailure {
  kind: LaunchKind;
  /** The vendor's code, e.g. `InsufficientInstanceCapacity`; empty where the text has none. */
  code: string;
  message: string;
  /** NodePool, node group, scaling group or virtual node that asked. */
  group: string;
  source: 'karpenter' | 'cluster-autoscaler' | 'asg' | 'nodegroup' | 'eci';
  /** The object that bears the message. */
  object: ObjectRef;
  at: string;
  /** When this text was first written. */
  since: string;
  cite(evidence: Cite): Evidence;
}

/** Every launch failure that events, conditions, controller logs, autoscaler status or the cloud's trail hold, oldest first. */
export const launchFailures = onceFor((facts: ClusterFacts): LaunchFailure[] =>
  [
    ...claimEvents(facts),
    ...claimConditions(facts),
    ...poolConditions(facts),
    ...controllerLogs(facts),
    ...autoscalerEvents(facts),
    ...autoscalerStatus(facts),
    ...scalingActivities(facts),
    ...nodegroupIssues(facts),
    ...containerInstances(facts),
    ...endedAtStart(facts),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.message < b.message ? -1 : 1)),
);

type Draft = Omit<LaunchFailure, 'kind' | 'code' | 'since'> & { reason?: string; since?: string };

const failure = ({ reason = '', ...draft }: Draft): LaunchFailure => ({
  ...draft,
  since: draft.since ?? draft.at,
  ...launchKindOf(reason, draft.message),
});

const fromEvent = (event: KubeEvent, group: string, source: LaunchFailure['source']): LaunchFailure =>
  failure({
    message: event.message,
    group,
    source,
    object: event.regarding,
    at: event.lastAt,
    since: event.firstAt,
    cite: (evidence) => evidence.event(event),
  });

/** A claim that failed is deleted, and its name keeps the pool's before its five random letters. */
const poolOfClaim = (facts: ClusterFacts, name: string): string => {
  const claim = facts.find('NodeClaim', name);
  return (claim && poolNameOf(claim)) ?? name.replace(/-[a-z0-9]{5}$/, '');
};

const launchTransition = /Type: Launched, Status: \S+ -> (?:Unknown|False), Reason: (?!AwaitingReconciliation)/;

const claimEvents = (facts: ClusterFacts): LaunchFailure[] =>
  facts.events
    .filter(
      (event) =>
        event.regarding.kind === 'NodeClaim' &&
        (event.reason === 'InsufficientCapacityError' ||
          /fleet error|creating instance|ServiceLinkedRole/.test(event.message) ||
          launchTransition.test(event.message)),
    )
    .map((event) => fromEvent(event, poolOfClaim(facts, event.regarding.name), 'karpenter'));

const pendingReasons = /^(|AwaitingReconciliation|Launched|NodeClassReadinessUnknown)$/;

const claimConditions = (facts: ClusterFacts): LaunchFailure[] =>
  facts.all('NodeClaim').flatMap((claim) => {
    const launched = condition(claim, 'Launched');
    if (!launched || launched.status === 'True' || pendingReasons.test(launched.reason ?? '')) return [];
    return [
      failure({
        reason: launched.reason,
        message: launched.message ?? '',
        group: poolOfClaim(facts, claim.metadata.name),
        source: 'karpenter',
        object: refOf(claim),
        at: launched.lastTransitionTime ?? claim.metadata.creationTimestamp ?? '',
        cite: (evidence) => evidence.condition(claim, 'Launched'),
      }),
    ];
  });

/** The pool copies the launch reason of its last claims, and keeps it when they are gone. */
const poolConditions = (facts: ClusterFacts): LaunchFailure[] =>
  facts.all('NodePool').flatMap((pool) => {
    const healthy = condition(pool, 'NodeRegistrationHealthy');
    const own = /^(RegistrationFailed|NodeRegistrationHealthy)$/;
    if (healthy?.status !== 'False' || own.test(healthy.reason ?? '') || pendingReasons.test(healthy.reason ?? ''))
      return [];
    return [
      failure({
        reason: healthy.reason,
        message: healthy.message ?? '',
        group: pool.metadata.name,
        source: 'karpenter',
        object: refOf(pool),
        at: healthy.lastTransitionTime ?? '',
        cite: (evidence) => evidence.condition(pool, 'NodeRegistrationHealthy'),
      }),
    ];
  });

const controllerLogs = (facts: ClusterFacts): LaunchFailure[] =>
  facts.logs
    .filter((log) => /^karpenter/.test(log.pod))
    .flatMap((log) =>
      linesOf(log).flatMap((line) => {
        if (!/failed launching nodeclaim|launching nodeclaim|fleet error/.test(line)) return [];
        const entry = json(line);
        const claim = entry?.NodeClaim?.name;
        if (!entry?.error || !claim) return [];
        const shown = `${entry.time ?? ''} ${entry.message ?? ''} ${claim}: ${entry.error}`;
        return [
          failure({
            message: entry.error,
            group: poolOfClaim(facts, claim),
            source: 'karpenter',
            object: { kind: 'NodeClaim', name: claim },
            at: entry.time ?? '',
            cite: (evidence) => evidence.log(log, shown),
          }),
        ];
      }),
    );

const json = (line: string): any => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const autoscalerEvents = (facts: ClusterFacts): LaunchFailure[] =>
  facts.events
    .filter((event) => /^(FailedToScaleUpGroup|ScaleUpFailed|FailedScaleUp)$/.test(event.reason))
    .map((event) => fromEvent(event, groupIn(event.message), 'cluster-autoscaler'));

/** Back-off of node groups in the status ConfigMap, which since 1.30 carries the cloud's code and text. */
const autoscalerStatus = (facts: ClusterFacts): LaunchFailure[] => {
  const map = statusMapOf(facts);
  const status = statusOf(map);
  return (status?.nodeGroups ?? []).flatMap((group: any) => {
    const info = group.scaleUp?.backoffInfo;
    if (!map || !info?.errorCode) return [];
    const at = group.scaleUp?.lastTransitionTime ?? status.time ?? '';
    return [
      failure({
        reason: info.errorCode,
        message: `${info.errorCode}: ${info.errorMessage ?? ''}`,
        group: groupName(group.name),
        source: 'cluster-autoscaler',
        object: refOf(map),
        at: isoTime(at),
        cite: (evidence) =>
          evidence.field(
            map,
            `data.status.nodeGroups[${group.name}].scaleUp`,
            group.scaleUp?.status,
            `${info.errorCode}: ${info.errorMessage ?? ''}`,
          ),
      }),
    ];
  });
};

/** EC2 took the order and ended the machine while it started. */
const endedAtStart = (facts: ClusterFacts): LaunchFailure[] =>
  instanceDeaths(facts).map(({ code, group, karpenter, claim, instance, message, at, cite }) =>
    failure({
      reason: code,
      message,
      group,
      source: karpenter ? 'karpenter' : 'asg',
      object: claim ? { kind: 'NodeClaim', name: claim } : { kind: 'Instance', name: instance },
      at,
      cite,
    }),
  );

const scalingActivities = (facts: ClusterFacts): LaunchFailure[] => {
  const call = 'autoscaling.describeScalingActivities';
  const activities: any[] = facts.cloud(call)?.Activities ?? [];
  return activities.flatMap((activity, index) => {
    const text = [activity.Description, activity.StatusMessage].filter(Boolean).join(' ');
    if (!/^(Failed|Cancelled)$/.test(activity.StatusCode ?? '') || !/[Ll]aunch/.test(text)) return [];
    return [
      failure({
        message: text,
        group: activity.AutoScalingGroupName ?? '',
        source: 'asg',
        object: { kind: 'AutoScalingGroup', name: activity.AutoScalingGroupName ?? '' },
        at: activity.StartTime ?? '',
        cite: (evidence) =>
          evidence.aws(call, `Activities[${index}].StatusCode`, activity.StatusCode, text, activity.StartTime),
      }),
    ];
  });
};

const nodegroupIssues = (facts: ClusterFacts): LaunchFailure[] => {
  const call = 'eks.describeNodegroup';
  const nodegroup = facts.cloud(call)?.nodegroup;
  const launches =
    /^(AsgInstanceLaunchFailures|InstanceLimitExceeded|InsufficientFreeAddresses|AccessDenied|Ec2LaunchTemplate|Ec2Subnet|AmiIdNotFound|Ec2InstanceTypeDoesNotExist|Iam)/;
  return (nodegroup?.health?.issues ?? []).flatMap((issue: any, index: number) =>
    launches.test(issue.code ?? '')
      ? [
          failure({
            reason: issue.code,
            message: issue.message ?? '',
            group: nodegroup.nodegroupName ?? '',
            source: 'nodegroup',
            object: { kind: 'Nodegroup', name: nodegroup.nodegroupName ?? '' },
            at: nodegroup.modifiedAt ?? '',
            cite: (evidence) =>
              evidence.aws(
                call,
                `nodegroup.health.issues[${index}]`,
                issue.code,
                issue.message ?? '',
                nodegroup.modifiedAt,
              ),
          }),
        ]
      : [],
  );
};

const instanceReasons =
  /^(NoStock|StockExhaust|StockClose|UnknownError|InsufficientBalance|DiskCapacityQuotaFull|CpuOptionsNot\w+|Throttling|ProviderCreateFailed|.*Quota.*)$/;

/** What befalls a container instance that was made, or is being made: no refusal. */
const notRefused = /^(Creating|SpotToBeReleased|System(?:Failure|Maintenance)?\.?Re(?:boot|deploy))$/;

/** Alibaba's container instances: a condition on the pod, and the same words as events. */
const containerInstances = (facts: ClusterFacts): LaunchFailure[] =>
  facts.all('Pod').flatMap((pod) => {
    const created = condition(pod, 'ContainerInstanceCreated');
    const fromCondition =
      created && created.status !== 'True' && !notRefused.test(created.reason ?? '')
        ? [
            failure({
              reason: created.reason,
              message: created.message ?? '',
              group: pod.spec?.nodeName ?? 'virtual-kubelet',
              source: 'eci',
              object: refOf(pod),
              at: created.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '',
              cite: (evidence) => evidence.condition(pod, 'ContainerInstanceCreated'),
            }),
          ]
        : [];
    if (pod.status?.phase !== 'Pending') return [];
    const fromEvents = facts
      .eventsAbout(pod)
      .filter(
        (event) =>
          /EciService|virtual-kubelet|eci/i.test(event.source) &&
          (instanceReasons.test(event.reason) || (event.reason === 'FailedScheduling' && /eci/i.test(event.message))),
      )
      .map((event) => fromEvent(event, pod.spec?.nodeName ?? 'virtual-kubelet', 'eci'))
      .map((entry, index, all) => (index === all.length - 1 ? entry : undefined))
      .filter((entry) => entry !== undefined);
    return [...fromCondition, ...fromEvents];
  });
