import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import { refOf } from '../../domain/kubernetes.ts';
import type { Boundary, Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isPending, isReady } from '../../facts/pods.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'A claim stays Pending: its class does not exist, its driver is not running, or the provisioner is refused',
  lookAlikes: [
    'WaitForFirstConsumer: the claim waits for the pod, not the pod for the claim',
    'a class that was deleted while other claims use it',
  ],
  judge(facts) {
    return facts.all('PersistentVolumeClaim').flatMap((claim) => {
      if (claim.status?.phase !== 'Pending') return [];
      const pods = facts
        .in('Pod', claim.metadata.namespace ?? '')
        .filter((pod) => isPending(pod) && uses(pod, claim.metadata.name));
      const events = facts.eventsAbout(claim);
      const failed = events.filter((event) => /^(ProvisioningFailed|FailedBinding)$/.test(event.reason)).at(-1);
      const verdict = failed ? judgeFailure(facts, claim, failed) : undefined;
      if (!verdict || pods.length === 0) return [];
      const evidence = cite(verdict.owner === 'undetermined' ? 'platform' : verdict.owner, facts);
      const storageClass = facts.find('StorageClass', claim.spec?.storageClassName);
      return [
        {
          mechanism: 'volume' as const,
          explains: ['pending' as const, 'scheduling' as const, 'rollout' as const, 'unknown-symptom' as const],
          owner: verdict.owner,
          boundary: verdict.boundary,
          strength: verdict.strength,
          cause: text(
            `Claim ${nameOf(claim)} gets no volume: ${verdict.says} (“${failed!.message.slice(0, 220)}”); ${pods.length} pods wait.`,
          ),
          root: refOf(claim),
          affects: [...pods.map(refOf), refOf(claim)],
          onset: failed!.firstAt,
          evidence: [
            evidence.event(failed!),
            evidence.field(claim, 'spec.storageClassName'),
            ...(storageClass ? [evidence.field(storageClass, 'provisioner')] : []),
            ...verdict.pods.slice(0, 2).map((pod) => evidence.condition(pod, 'Ready')),
          ],
          chain: [link(claim, verdict.says), ...pods.slice(0, 2).map((pod) => link(pod, 'waits for its volume'))],
          nextSteps: [text(verdict.fix)],
          missing:
            verdict.owner === 'undetermined'
              ? [
                  {
                    layer: 'platform' as const,
                    missing: 'the provisioner’s own error',
                    fix: 'read the log of the CSI driver’s controller',
                  },
                ]
              : [],
        },
      ];
    });
  },
});

const uses = (pod: KubeObject, claim: string): boolean =>
  (pod.spec?.volumes ?? []).some((volume: any) => volume.persistentVolumeClaim?.claimName === claim);

interface Judged {
  owner: Owner;
  boundary: Boundary;
  strength: 'direct' | 'derived' | 'circumstantial';
  says: string;
  fix: string;
  /** Driver pods that are at fault. */
  pods: KubeObject[];
}

const judgeFailure = (facts: ClusterFacts, claim: KubeObject, { message }: KubeEvent): Judged => {
  const owner = ownershipOf(facts, claim);
  const name: string = claim.spec?.storageClassName ?? '';
  const base = { pods: [] as KubeObject[], boundary: 'storage' as const, strength: 'direct' as const };
  if (/storageclass.{0,60}not found/i.test(message)) {
    const others = facts
      .all('PersistentVolumeClaim')
      .filter((other) => other !== claim && other.spec?.storageClassName === name && other.status?.phase === 'Bound');
    return others.length > 0
      ? {
          ...base,
          owner: 'platform',
          says: `StorageClass ${name} is gone, although ${others.length} bound claims were made with it`,
          fix: `Bring StorageClass ${name} back.`,
        }
      : {
          ...base,
          owner,
          boundary: 'config',
          says: `it names StorageClass ${name}, which does not exist`,
          fix: `Name a class that exists: kubectl get storageclass`,
        };
  }
  if (/no storage class is set/i.test(message)) {
    const standard = facts
      .all('StorageClass')
      .some((entry) => entry.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true');
    return standard
      ? {
          ...base,
          owner,
          boundary: 'config',
          strength: 'derived',
          says: 'it sets no class and no volume fits',
          fix: 'Set storageClassName in the claim.',
        }
      : {
          ...base,
          owner: 'platform',
          strength: 'derived',
          says: 'it sets no class, and the cluster has no default class',
          fix: 'Mark one StorageClass as default, or set storageClassName in the claim.',
        };
  }
  if (
    /UnauthorizedOperation|AccessDenied|not authorized|WebIdentity|AuthorizationFailed|PERMISSION_DENIED|Forbidden|no EC2 IMDS role|credential/i.test(
      message,
    )
  )
    return {
      ...base,
      owner: 'platform',
      says: 'the storage driver lacks permission',
      fix: 'Give the driver’s role the permission that the text names.',
    };
  if (/LimitExceeded|quota|QUOTA_EXCEEDED|OperationNotAllowed/i.test(message))
    return {
      ...base,
      owner: 'platform',
      boundary: 'quota',
      says: 'a storage quota of the account is used up',
      fix: 'Raise the quota that the text names, or delete volumes nobody uses.',
    };
  const broken = driverPods(facts, claim).filter((pod) => !isReady(pod));
  if (broken.length > 0)
    return {
      ...base,
      owner: 'platform',
      strength: 'derived',
      pods: broken,
      says: 'its driver is not running',
      fix: `Repair ${broken.map(nameOf).join(', ')}.`,
    };
  if (
    /Internal(Server)?Error|InternalFailure|ServiceUnavailable|code = Unavailable|Insufficient(Volume)?Capacity|ZonalAllocation|RESOURCE_POOL_EXHAUSTED/i.test(
      message,
    )
  )
    return {
      ...base,
      owner: 'cloud',
      strength: 'derived',
      says: 'the vendor’s storage service fails',
      fix: 'Open a support case with the vendor: volume type, zone, times and request ids.',
    };
  if (/InvalidArgument|InvalidParameter|infeasible/i.test(message)) {
    const size = /size|capacity|too (small|large)|iops/i.test(message);
    return {
      ...base,
      owner: size ? owner : 'platform',
      boundary: 'config',
      strength: 'derived',
      says: 'the request is not possible',
      fix: 'Correct the parameter that the text names, in the class or in the claim.',
    };
  }
  return {
    ...base,
    owner: 'undetermined',
    strength: 'circumstantial',
    says: 'the provisioner fails',
    fix: 'Read the log of the CSI driver’s controller.',
  };
};

/** `ebs.csi.aws.com` → pods named ebs-csi-…. */
const driverPods = (facts: ClusterFacts, claim: KubeObject): KubeObject[] => {
  const provisioner: string =
    facts.find('StorageClass', claim.spec?.storageClassName)?.provisioner ??
    claim.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] ??
    '';
  const word = provisioner.split('.')[0] ?? '';
  return word.length > 1
    ? facts
        .all('Pod')
        .filter((pod) => new RegExp(`^(csi-)?${word}(disk|file)?-csi|^csi-${word}`).test(pod.metadata.name))
    : [];
};
