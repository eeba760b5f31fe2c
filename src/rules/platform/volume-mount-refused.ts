import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Boundary } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { volumesOf } from '../../facts/capacity/pools.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;

interface Refusal {
  pattern: RegExp;
  /** `workload`: whoever owns the pod’s template and claim. */
  owner: 'platform' | 'workload';
  boundary: Boundary;
  strength: FindingDraft['strength'];
  says: string;
  fix: string;
}

/** What a mount ends in on the node, in the words of mount(8), the file servers and the secrets store’s driver. */
const refusals: Refusal[] = [
  {
    pattern:
      /secrets[- ]store.{0,200}?(?:provider (?:not found|"[^"]+" not found)|error connecting to provider)|provider not found: provider/i,
    owner: 'platform',
    boundary: 'config',
    strength: 'direct',
    says: 'the provider of the secrets store driver does not run on the node',
    fix: 'Look at the DaemonSet of the secrets store provider on that node.',
  },
  {
    pattern:
      /secrets[- ]store.{0,400}?(?:AccessDenied|not authorized|Unauthorized|Forbidden|403|permission denied)|(?:GetSecretValue|GetParameters).{0,200}?(?:AccessDenied|not authorized)/i,
    owner: 'workload',
    boundary: 'config',
    strength: 'derived',
    says: 'its service account may not read the secret that it mounts',
    fix: 'Compare the role of the pod’s service account with the secret named in its SecretProviderClass.',
  },
  {
    pattern:
      /secrets[- ]store.{0,400}?(?:ResourceNotFound|SecretNotFound|NotFound|does not exist)|secretproviderclass(?:es)?(?:\.\S+)? "[^"]+" not found|failed to get secretproviderclass/i,
    owner: 'workload',
    boundary: 'config',
    strength: 'direct',
    says: 'the secret or SecretProviderClass that it mounts does not exist',
    fix: 'Put right the name in the SecretProviderClass, or make the secret.',
  },
  {
    pattern: /hostPath type check failed/i,
    owner: 'workload',
    boundary: 'config',
    strength: 'derived',
    says: 'the host path that its template names is not of that type on the node',
    fix: 'Use type DirectoryOrCreate, or place the pod on nodes that have the path.',
  },
  {
    pattern: /access denied by server|mount\.nfs\S*: (?:access denied|Operation not permitted|permission denied)/i,
    owner: 'platform',
    boundary: 'storage',
    strength: 'direct',
    says: 'the file server refuses the mount: its export, policy or access point',
    fix: 'Compare the export or file system policy with the node’s address and the role of the driver.',
  },
  {
    pattern: /reason given by server: No such file or directory|mount\.nfs\S*: .{0,200}No such file or directory/i,
    owner: 'workload',
    boundary: 'storage',
    strength: 'derived',
    says: 'the path that it mounts does not exist on the file server',
    fix: 'Make the directory on the file server, or put right the path in the volume.',
  },
  {
    pattern:
      /mount\.(?:nfs|efs|cifs|lustre)\S*.{0,200}(?:timed out|No route to host|Connection refused|Failed to resolve)|mount\.nfs4? .{0,400}timed out|Failed to resolve "fs-/i,
    owner: 'platform',
    boundary: 'network',
    strength: 'derived',
    says: 'the file server does not answer the node',
    fix: 'Check mount target, security group (port 2049) and name of the file system in the node’s zone; then the file system itself.',
  },
  {
    pattern:
      /wrong fs type, bad option, bad superblock|Structure needs cleaning|fsck.{0,60}(?:errors|failed)|'fsck' found errors|can't read superblock|bad magic number/i,
    owner: 'platform',
    boundary: 'storage',
    strength: 'direct',
    says: 'the file system on its volume is damaged or of another type',
    fix: 'Snapshot the volume first, then repair it on a maintenance pod (fsck, xfs_repair), or restore it.',
  },
];

export default rule({
  title:
    'A volume is there and cannot be mounted: the file server, its rights, the file system or the secrets store refuses',
  lookAlikes: [
    'the disk cannot be attached to the node: another stage',
    'a ConfigMap or Secret of the cluster that is missing',
    'one attempt that failed before the pod became ready',
  ],
  judge(facts, scope) {
    const failed = scope.pods
      .filter((pod) => !isReady(pod))
      .flatMap((pod) => {
        const event = facts
          .eventsAbout(pod)
          .findLast(
            (entry) =>
              /^Failed(Mount|MapVolume)$/.test(entry.reason) &&
              minutesBetween(entry.lastAt, facts.now) <= recentMinutes &&
              refusals.some(({ pattern }) => pattern.test(entry.message)),
          );
        const refusal = event && refusals.find(({ pattern }) => pattern.test(event.message));
        return event && refusal ? [{ pod, event, refusal }] : [];
      });
    return groupBy(failed, ({ pod, refusal }) => `${nameOf(facts.workloadOf(pod))} ${refusal.says}`).map((group) =>
      finding(facts, group),
    );
  },
});

const finding = (
  facts: ClusterFacts,
  group: { pod: KubeObject; event: KubeEvent; refusal: Refusal }[],
): FindingDraft => {
  const { pod, event, refusal } = group[0]!;
  const workload = facts.workloadOf(pod);
  const owner = refusal.owner === 'workload' ? ownershipOf(facts, workload) : refusal.owner;
  const evidence = cite(owner, facts);
  const name = /for volume "([^"]+)"/.exec(event.message)?.[1];
  const volume = volumesOf(facts, pod).find((entry) => entry.volume?.metadata.name === name)?.volume;
  return {
    mechanism: 'volume',
    explains: ['pending', 'rollout', 'job', 'unknown-symptom'],
    owner,
    boundary: refusal.boundary,
    strength: refusal.strength,
    cause: text(
      `${group.length} pods of ${nameOf(workload)} do not start because ${refusal.says} (volume ${name ?? 'of the pod'}): “${event.message.slice(-220)}”.`,
    ),
    root: refOf(refusal.owner === 'workload' ? workload : (volume ?? pod)),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(...group.map((entry) => entry.event.firstAt)),
    evidence: [
      ...group.slice(0, 3).map((entry) => evidence.event(entry.event)),
      evidence.field(pod, 'spec.volumes'),
      ...(volume ? [evidence.field(volume, 'spec.csi')] : []),
    ],
    chain: [
      ...(volume ? [link(volume, refusal.says)] : []),
      link(workload, refusal.says),
      ...group.slice(0, 2).map((entry) => link(entry.pod, 'cannot mount')),
    ],
    nextSteps: [text(refusal.fix)],
  };
};
