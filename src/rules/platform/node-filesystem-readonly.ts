import { type KubeEvent, type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition, isTrue } from '../../facts/conditions.ts';
import { onceFor } from '../../facts/lazy.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { isManaged, vendorOf } from '../../facts/provider.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The kubelet’s or runtime’s own paths: an application that may not write to its own root is another matter. */
const readOnly =
  /(\/var\/lib\/(kubelet|containerd|docker|crio|cni)|\/run\/containerd|\/var\/log\/pods|\/etc\/cni).*read-only file system|read-only file system.*(\/var\/lib\/(kubelet|containerd)|\/run\/containerd)/i;
/** What a kernel says when the device below fails. */
const deviceError =
  /I\/O error|Buffer I\/O|blk_update_request|nvme\d+n\d+.*(timeout|reset|abort)|EXT4-fs error|XFS.*(shutdown|corruption)|Remounting filesystem read-only|critical medium error/i;
const deviceReasons =
  /^(IOError|Ext4Error|Ext4Warning|FilesystemIsReadOnly|BlockDeviceIOError|XFSShutdown|EBSVolume(?!\w*Exceeded)\w+|MdadmHealth\w*)$/;

export default rule({
  title: 'A node’s filesystem has become read-only: kubelet and runtime can write nothing there',
  lookAlikes: [
    'a container with readOnlyRootFilesystem that writes to its own root',
    'a volume mounted read-only by its claim',
  ],
  judge(facts) {
    return facts.all('Node').flatMap((node) => {
      const said = eventsOn(facts, node);
      const agent = isTrue(node, 'ReadonlyFilesystem') || condition(node, 'StorageReady')?.status === 'False';
      if (said.length === 0 && !agent) return [];
      const kernel = facts
        .eventsAbout(node)
        .filter((event) => deviceReasons.test(event.reason) || deviceError.test(event.message));
      const status = instanceStatusOf(facts, node);
      const id = instanceIdOf(node);
      const stalled = facts
        .cloudWatch('AWS/EBS', 'VolumeStalledIOCheck')
        .filter((series) => series.dimensions.InstanceId === id && series.points.some(([, value]) => value > 0));
      const device = status?.AttachedEbsStatus?.Status === 'impaired' || stalled.length > 0;
      const own = agent && !isManaged(facts);
      // A disk, a broken file system and a remount by hand look alike from above: the kernel's words tell them apart.
      const owner = device || kernel.length > 0 ? 'cloud' : own ? 'platform' : 'undetermined';
      const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
      const types = ['ReadonlyFilesystem', 'StorageReady'].filter((type) => condition(node, type));
      return [
        {
          mechanism: 'node-runtime' as const,
          explains: [
            'volume' as const,
            'sandbox-network' as const,
            'crash' as const,
            'pending' as const,
            'unknown-symptom' as const,
            'rollout' as const,
            'job' as const,
            'image-broken' as const,
            'probe' as const,
          ],
          owner: owner as 'cloud' | 'platform' | 'undetermined',
          boundary: 'node' as const,
          strength: device ? ('direct' as const) : ('derived' as const),
          cause: text(
            `The filesystem of node ${node.metadata.name} is read-only${device ? ': its disk does not answer' : kernel.length > 0 ? `: ${kernel[0]!.message.slice(0, 120)}` : ''}${owner === 'undetermined' ? '; whether the disk failed, the kernel remounted it after an I/O error or something on the node did it is not in what could be read' : ''}.`,
          ),
          root: refOf(node),
          affects: harmedBy(facts, [node]),
          onset: earliest(...said.map((event) => event.firstAt), ...kernel.map((event) => event.firstAt)),
          evidence: [
            ...said.slice(0, 3).map((event) => evidence.event(event)),
            ...kernel.slice(0, 2).map((event) => evidence.event(event)),
            ...types.map((type) => evidence.condition(node, type)),
            ...(status
              ? [
                  evidence.aws(
                    'ec2.describeInstanceStatus',
                    `${id}.AttachedEbsStatus`,
                    status.AttachedEbsStatus?.Status ?? 'absent',
                  ),
                ]
              : []),
            ...stalled.slice(0, 1).map((series) => evidence.cloudWatch(series, 'I/O stalled')),
          ],
          chain: [
            link(node, 'read-only filesystem'),
            ...said.slice(0, 2).map((event) => ({
              object: `Pod ${event.regarding.namespace}/${event.regarding.name}`,
              uid: event.regarding.uid,
              claim: event.reason,
            })),
          ],
          nextSteps: [
            text(
              `kubectl cordon ${node.metadata.name}; read the kernel log before it goes: dmesg -T | grep -iE "I/O error|remount|ext4|xfs|nvme"; then replace the node.`,
            ),
            ...(owner === 'cloud'
              ? [text(`Open a case with ${vendorOf(facts)} naming the disk of ${id ?? node.metadata.name}.`)]
              : []),
          ],
          missing:
            owner === 'undetermined'
              ? [
                  {
                    layer: 'cloud' as const,
                    missing: `kernel log and disk status of node ${node.metadata.name}`,
                    fix: 'journalctl -k on the node, or the provider’s serial console; EC2: describe-instance-status AttachedEbsStatus',
                  },
                  {
                    layer: 'platform' as const,
                    missing: 'node problem detector conditions',
                    fix: 'install node-problem-detector or the provider’s node monitoring agent',
                  },
                ]
              : [],
        },
      ];
    });
  },
});

const isSaid = onceFor((facts: ClusterFacts): boolean => facts.events.some((event) => readOnly.test(event.message)));

const eventsOn = (facts: ClusterFacts, node: KubeObject): KubeEvent[] => {
  if (!isSaid(facts)) return [];
  const own = facts.eventsAbout(node).filter((event) => readOnly.test(event.message));
  const pods = facts
    .podsOn(node.metadata.name)
    .flatMap((pod) => facts.eventsAbout(pod).filter((event) => readOnly.test(event.message)));
  return [...own, ...pods];
};
