import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { isNotReady } from '../../facts/nodes/nodes.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished, isPending, isReady } from '../../facts/pods.ts';
import { addMinutes, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The attach controller takes a disk from a lost node by force after this time. */
const forceDetachMinutes = 6;

export default rule({
  title: 'A disk cannot be attached or mounted: it is held elsewhere, the driver is missing, or the vendor refuses',
  lookAlikes: [
    'Multi-Attach in the minutes after a node was lost: it ends by itself',
    'Multi-Attach between two replicas that share one claim: the workload’s design',
  ],
  judge(facts) {
    return facts
      .all('Pod')
      .filter(isPending)
      .flatMap((pod) => {
        const event = facts
          .eventsAbout(pod)
          .filter(
            (entry) =>
              entry.reason === 'FailedAttachVolume' ||
              (entry.reason === 'FailedMount' && driverMissing.test(entry.message)),
          )
          .at(-1);
        const judged = event && judgeEvent(facts, pod, event);
        return event && judged ? [findingOf(facts, pod, event, judged)] : [];
      });
  },
});

const driverMissing = /not found in the list of registered CSI drivers|no CSI driver|CSI driver is not installed/;

interface Judged {
  owner: Owner;
  boundary: Boundary;
  strength: FindingDraft['strength'];
  says: string;
  fix: string;
  state?: 'expected';
  objects: KubeObject[];
}

const judgeEvent = (facts: ClusterFacts, pod: KubeObject, event: KubeEvent): Judged | undefined => {
  const { message } = event;
  if (/Multi-Attach/.test(message)) return multiAttach(facts, pod, event);
  if (driverMissing.test(message)) {
    const agents = facts
      .podsOn(pod.spec?.nodeName ?? '')
      .filter((entry) => /csi/.test(entry.metadata.name) && !isReady(entry));
    return {
      owner: 'platform',
      boundary: 'storage',
      strength: 'direct',
      objects: agents,
      says: `the storage driver has not registered on node ${pod.spec?.nodeName}`,
      fix: 'Look at the driver’s DaemonSet pod on that node: taints, image, start order.',
    };
  }
  if (/AccessDenied|UnauthorizedOperation|not authorized|AuthorizationFailed|PERMISSION_DENIED|KMS/i.test(message))
    return {
      owner: 'platform',
      boundary: 'storage',
      strength: 'direct',
      objects: [],
      says: 'the storage driver is not allowed to attach it',
      fix: 'Give the driver’s role the permission that the text names.',
    };
  if (/limit|maximum number of (data )?disks|AttachmentLimitExceeded/i.test(message))
    return {
      owner: 'platform',
      boundary: 'storage',
      strength: 'derived',
      objects: [],
      says: 'the node has as many disks as it can have',
      fix: 'Lower the driver’s volume limit per node, or use larger types.',
    };
  if (
    /Internal(Server)?Error|InternalFailure|ServiceUnavailable|IncorrectState.{0,60}attaching|stuck in attaching|AttachDiskWhileBeingDetached|currently being detached|OperationPreempted|ServerError\b/i.test(
      message,
    )
  )
    return {
      owner: 'cloud',
      boundary: 'storage',
      strength: 'derived',
      objects: [],
      says: 'the vendor’s storage service fails',
      fix: 'Open a support case: volume, instance, times.',
    };
  return undefined;
};

const multiAttach = (facts: ClusterFacts, pod: KubeObject, event: KubeEvent): Judged => {
  const claims = claimNames(pod);
  const others = facts
    .in('Pod', pod.metadata.namespace ?? '')
    .filter(
      (other) =>
        other !== pod &&
        !isFinished(other) &&
        other.spec?.nodeName !== pod.spec?.nodeName &&
        claimNames(other).some((name) => claims.includes(name)),
    );
  const lost = others.filter((other) => {
    const node = facts.nodeOf(other);
    return !node || isNotReady(node);
  });
  if (others.length > 0 && lost.length === 0)
    return {
      owner: ownershipOf(facts, pod),
      boundary: 'config',
      strength: 'direct',
      objects: others,
      says: `${others.map(nameOf).join(', ')} on another node holds the same ReadWriteOnce claim`,
      fix: 'Use strategy Recreate, a StatefulSet with a claim per replica, or a shared volume.',
    };
  if (lost.length > 0)
    return {
      owner: 'platform',
      boundary: 'storage',
      strength: 'circumstantial',
      objects: lost,
      says: `${lost.map(nameOf).join(', ')} on a lost node still holds it`,
      fix: 'Once the node is surely dead, taint it node.kubernetes.io/out-of-service so that the disk is freed.',
    };
  const young = minutesBetween(event.firstAt, facts.now) < forceDetachMinutes + 2;
  return {
    owner: 'platform',
    boundary: 'storage',
    strength: young ? 'derived' : 'circumstantial',
    objects: [],
    says: 'its former node has not let it go yet',
    fix: 'Look at the VolumeAttachment of the former node.',
    ...(young ? { state: 'expected' as const } : {}),
  };
};

const claimNames = (pod: KubeObject): string[] =>
  (pod.spec?.volumes ?? []).map((volume: any) => volume.persistentVolumeClaim?.claimName).filter(Boolean);

const findingOf = (facts: ClusterFacts, pod: KubeObject, event: KubeEvent, judged: Judged): FindingDraft => {
  const evidence = cite(judged.owner === 'undetermined' ? 'platform' : judged.owner, facts);
  return {
    mechanism: 'volume',
    explains: ['pending', 'rollout', 'unknown-symptom'],
    ...(judged.state ? { state: judged.state, deadline: addMinutes(event.firstAt, forceDetachMinutes + 4) } : {}),
    owner: judged.owner,
    boundary: judged.boundary,
    strength: judged.strength,
    cause: text(`${nameOf(pod)} waits for its disk: ${judged.says} (“${event.message.slice(0, 200)}”).`),
    root: refOf(judged.objects[0] ?? pod),
    affects: [refOf(pod)],
    onset: event.firstAt,
    evidence: [
      evidence.event(event),
      ...judged.objects.slice(0, 2).map((object) => evidence.field(object, 'spec.nodeName')),
      evidence.field(pod, 'spec.volumes'),
    ],
    chain: [
      ...judged.objects.slice(0, 2).map((object) => link(object, 'holds the disk')),
      link(pod, 'waits for its disk'),
    ],
    nextSteps: [text(judged.fix)],
  };
};
