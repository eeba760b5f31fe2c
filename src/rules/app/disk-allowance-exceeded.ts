import type { CloudWatchSeries } from '../../domain/facts.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { volumesOf } from '../../facts/capacity/pools.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const recentMinutes = 60;
/** Reasons of the EKS node monitoring agent: the volume's own limit, or that of the machine for all its volumes. */
const agentReason = /^EBS(Volume|Instance)(IOPS|Throughput)Exceeded$/;
/** A metric of the volume, and when a value of it says that the volume is held back. */
const metrics: [string, (value: number) => boolean, string][] = [
  ['VolumeIOPSExceededCheck', (value) => value > 0, 'asked for more operations than it is provisioned for'],
  ['VolumeThroughputExceededCheck', (value) => value > 0, 'asked for more throughput than it is provisioned for'],
  ['BurstBalance', (value) => value < 1, 'used up its burst balance'],
];

export default rule({
  title: 'A disk holds its workload back: the volume, or the machine for all its volumes, is at its provisioned I/O',
  lookAlikes: [
    'I/O that stalls altogether: the storage (VolumeStalledIOCheck)',
    'a volume that is full: space, not speed',
    'a limit that was reached and that nobody felt',
  ],
  judge(facts, scope) {
    const pods = scope.wide ? [] : scope.pods;
    const seen = new Set<string>();
    return pods.flatMap((pod): FindingDraft[] => [
      ...volumesOf(facts, pod).flatMap(({ volume }) => {
        const id = /vol-[0-9a-f]+/.exec(volume?.spec?.csi?.volumeHandle ?? '')?.[0];
        if (!volume || !id || seen.has(id)) return [];
        seen.add(id);
        return volumeFinding(facts, pod, volume, id);
      }),
      ...machineFinding(facts, pod, seen),
    ]);
  },
});

const volumeFinding = (facts: ClusterFacts, pod: KubeObject, volume: KubeObject, id: string): FindingDraft[] => {
  const held = metrics.flatMap(([metric, isHeld, says]) =>
    facts
      .cloudWatch('AWS/EBS', metric)
      .filter((series) => series.dimensions.VolumeId === id)
      .flatMap((series) => {
        const points = series.points.filter(
          ([at, value]) => minutesBetween(at, facts.now) <= recentMinutes && isHeld(value),
        );
        return points.length >= 3 ? [{ series, says, at: points[0]![0], count: points.length }] : [];
      }),
  );
  const [first] = held;
  if (!first) return [];
  const workload = facts.workloadOf(pod);
  const claim = volume.spec?.claimRef ?? {};
  const owner = ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  const show = ({ series, count }: { series: CloudWatchSeries; count: number }) =>
    evidence.cloudWatch(series, `${count} points of the last hour, last ${series.points.at(-1)?.[1]}`);
  return [
    {
      mechanism: 'throttling',
      explains: ['probe', 'application-error', 'dependency', 'unknown-symptom', 'load'],
      owner,
      boundary: 'storage',
      strength: 'derived',
      cause: text(
        `Volume ${id} of claim ${claim.namespace}/${claim.name} holds ${nameOf(workload)} back: it ${first.says}, since ${first.at}.`,
      ),
      root: refOf(volume),
      affects: [workload, pod].map(refOf),
      onset: earliest(...held.map((entry) => entry.at)),
      evidence: [
        ...held.map(show),
        evidence.field(volume, 'spec.csi.volumeHandle'),
        evidence.field(volume, 'spec.storageClassName'),
      ],
      chain: [link(volume, first.says), link(workload, 'waits for its disk')],
      nextSteps: [
        text(
          `Find what reads or writes more than before; raise the volume’s IOPS or throughput (aws ec2 modify-volume --volume-id ${id} --iops … --throughput …), or move from gp2 to gp3.`,
        ),
      ],
    },
  ];
};

/** The agent's event on the node: a machine's own allowance is the platform's choice of type. */
const machineFinding = (facts: ClusterFacts, pod: KubeObject, seen: Set<string>): FindingDraft[] => {
  const node = facts.nodeOf(pod);
  if (!node || seen.has(node.metadata.name)) return [];
  seen.add(node.metadata.name);
  const event = facts
    .eventsAbout(node)
    .findLast((entry) => agentReason.test(entry.reason) && minutesBetween(entry.lastAt, facts.now) <= recentMinutes);
  if (!event) return [];
  const evidence = cite('platform', facts);
  const workload = facts.workloadOf(pod);
  const type = node.metadata.labels?.['node.kubernetes.io/instance-type'];
  const machine = event.reason.startsWith('EBSInstance');
  return [
    {
      mechanism: 'throttling',
      explains: ['probe', 'application-error', 'unknown-symptom'],
      owner: 'platform',
      boundary: machine ? 'node' : 'storage',
      strength: 'circumstantial',
      cause: text(
        `Node ${node.metadata.name}${type ? ` (${type})` : ''} reached ${machine ? 'its allowance for disks' : 'the limit of one of its disks'} (${event.reason}): “${event.message.slice(0, 160)}”.`,
      ),
      root: refOf(node),
      affects: [workload, pod].map(refOf),
      onset: event.firstAt,
      evidence: [evidence.event(event), evidence.label(node, 'node.kubernetes.io/instance-type')],
      chain: [link(node, event.reason), link(workload, 'shares its disks')],
      nextSteps: [
        text(
          'See which pod of the node reads and writes most; use machines with a larger EBS allowance, or spread these pods.',
        ),
      ],
    },
  ];
};
