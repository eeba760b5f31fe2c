import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { newKindFor } from '../../facts/nodes/new-kind.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { containerStatuses } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { allCrashes, type Crash, citeCrash, saying } from '../../facts/workloads/crashes.ts';
import { containerOf, containerPath, rolloutOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const wrongFormat = /exec format error/i;
const badRead = /exec format error|input\/output error|structure needs cleaning|bad message/i;

export default rule({
  title:
    'Binaries cannot be executed: an image built for another architecture, or one node whose image store is corrupt',
  lookAlikes: [
    'several unrelated images fail on one node and run on others of its architecture: the node',
    'one image fails on every node of an architecture where others run: the image',
  ],
  judge(facts, scope) {
    const all = allCrashes(facts).filter((crash) => saying(crash, badRead));
    const own = all.filter((crash) => scope.has(refOf(crash.pod)) && saying(crash, badRead));
    const nodes = new Set(own.map((crash) => crash.pod.spec?.nodeName));
    const corrupt = [...nodes].flatMap((node) => corruptNode(facts, node, all));
    if (corrupt.length > 0) return corrupt;
    return groupBy(
      own.filter((crash) => saying(crash, wrongFormat)),
      (crash) => nameOf(facts.workloadOf(crash.pod)),
    ).map((group) => wrongImage(facts, group));
  },
});

const imageName = (crash: Crash): string => containerOf(crash.pod, crash.container)?.image ?? '';
const archOf = (facts: ClusterFacts, pod: KubeObject): string =>
  facts.nodeOf(pod)?.metadata.labels?.['kubernetes.io/arch'] ?? facts.nodeOf(pod)?.status?.nodeInfo?.architecture ?? '';

/** Several images fail on one node, and at least one of them runs on another node of the same architecture. */
const corruptNode = (facts: ClusterFacts, name: string | undefined, all: Crash[]): FindingDraft[] => {
  const node = facts.find('Node', name);
  const here = all.filter((crash) => crash.pod.spec?.nodeName === name);
  const images = new Set(here.map(imageName));
  const elsewhere = here.filter((crash) => runsElsewhere(facts, crash));
  const others = all.filter((crash) => crash.pod.spec?.nodeName !== name && images.has(imageName(crash)));
  if (!node || images.size < 2 || elsewhere.length === 0 || others.length > 0) return [];
  const evidence = cite('platform', facts);
  return [
    {
      mechanism: 'node-image',
      explains: ['crash', 'image-broken', 'probe', 'rollout', 'unknown-symptom'],
      owner: 'undetermined',
      boundary: 'node',
      strength: 'direct',
      cause: text(
        `Binaries of ${images.size} unrelated images cannot be executed on node ${name} although the same images run on other nodes of its architecture: its image store or disk holds bad data; what damaged it is not in what was read.`,
      ),
      root: refOf(node),
      affects: [refOf(node), ...here.map((crash) => refOf(crash.pod))],
      onset: earliest(node.metadata.creationTimestamp),
      evidence: [
        ...here.slice(0, 4).flatMap((crash) => {
          const said = saying(crash, badRead)!;
          return said.line ? [evidence.log(said.line.log, said.text)] : [citeCrash(evidence, crash)];
        }),
        ...elsewhere
          .slice(0, 2)
          .map((crash) =>
            evidence.field(
              crash.pod,
              containerPath(crash.pod, crash.container, 'image'),
              imageName(crash),
              'runs on other nodes of this architecture',
            ),
          ),
        evidence.field(node, 'metadata.labels.kubernetes.io/arch', archOf(facts, here[0]!.pod)),
      ],
      chain: [
        link(node, 'holds damaged image data'),
        ...here.slice(0, 3).map((crash) => link(crash.pod, `${crash.container} cannot be executed`)),
      ],
      contributing: [],
      nextSteps: [
        text(
          `Replace the node: kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data; keep its disk for the kernel log.`,
        ),
      ],
      missing: [
        {
          layer: 'platform',
          missing: `kernel and containerd log of node ${name}`,
          fix: 'read dmesg and journalctl -u containerd on the node (NodeDiagnostic, SSM or the serial console)',
        },
        {
          layer: 'cloud',
          missing: `state of the node's root volume`,
          fix: 'aws ec2 describe-volume-status and the EBS VolumeStalledIOCheck metric of its volume',
        },
      ],
    },
  ];
};

const runsElsewhere = (facts: ClusterFacts, crash: Crash): boolean =>
  facts
    .all('Pod')
    .some(
      (pod) =>
        pod.spec?.nodeName &&
        pod.spec.nodeName !== crash.pod.spec?.nodeName &&
        archOf(facts, pod) === archOf(facts, crash.pod) &&
        containerStatuses(pod).some(
          (status) =>
            status.state?.running && status.ready && containerOf(pod, status.name)?.image === imageName(crash),
        ),
    );

const wrongImage = (facts: ClusterFacts, group: Crash[]): FindingDraft => {
  const crash = group[0]!;
  const workload = facts.workloadOf(crash.pod);
  const archs = [...new Set(group.map((entry) => archOf(facts, entry.pod)).filter(Boolean))];
  const running = facts
    .podsOf(workload)
    .filter((pod) =>
      containerStatuses(pod).some((status) => status.name === crash.container && status.state?.running && status.ready),
    );
  const good = [...new Set(running.map((pod) => archOf(facts, pod)).filter(Boolean))];
  const neighbours = facts
    .podsOn(crash.pod.spec?.nodeName ?? '')
    .filter(
      (pod) =>
        facts.workloadOf(pod) !== workload &&
        containerStatuses(pod).some((status) => status.state?.running && status.ready),
    );
  const split = archs.length === 1 && good.length > 0 && !good.includes(archs[0]!);
  const pinned = workload.spec?.template?.spec?.nodeSelector?.['kubernetes.io/arch'];
  const since = rolloutOf(facts, workload)?.at ?? workload.metadata.creationTimestamp;
  const newNodes = split && !pinned ? newKindFor(facts, workload, facts.nodeOf(crash.pod)) : undefined;
  const owner = newNodes ? 'platform' : ownershipOf(facts, workload);
  const evidence = cite(owner, facts);
  return {
    mechanism: 'image-broken',
    explains: ['crash', 'probe', 'rollout', 'application-error', 'unknown-symptom'],
    owner,
    boundary: 'image',
    strength: (split || neighbours.length > 0) && !newNodes ? 'direct' : 'derived',
    cause: text(
      `Image ${imageName(crash)} of ${nameOf(workload)} cannot be executed on ${archs.join(', ') || 'these'} nodes (exec format error)${split ? ` and runs on ${good.join(', ')}` : ''}; ${neighbours.length} other pods run on the same nodes${pinned ? '' : ', and its template does not ask for an architecture'}${newNodes ? `; the template is of ${since}, the first ${archs[0]} node came at ${newNodes.arrived}` : ''}.`,
    ),
    root: refOf(newNodes ? (facts.nodeOf(crash.pod) ?? workload) : workload),
    affects: [workload, ...group.map((entry) => entry.pod)].map(refOf),
    onset: earliest(since),
    evidence: [
      ...group.slice(0, 2).map((entry) => {
        const said = saying(entry, wrongFormat)!;
        return said.line ? evidence.log(said.line.log, said.text) : citeCrash(evidence, entry);
      }),
      evidence.field(crash.pod, containerPath(crash.pod, crash.container, 'image'), imageName(crash)),
      ...[...new Map(group.map((entry) => [archOf(facts, entry.pod), facts.nodeOf(entry.pod)])).entries()].flatMap(
        ([arch, node]) => (node ? [evidence.field(node, 'metadata.labels[kubernetes.io/arch]', arch)] : []),
      ),
      ...running.slice(0, 1).flatMap((pod) => {
        const node = facts.nodeOf(pod);
        return node
          ? [
              evidence.field(
                node,
                'metadata.labels[kubernetes.io/arch]',
                archOf(facts, pod),
                `${nameOf(pod)} runs here`,
              ),
            ]
          : [];
      }),
      citeCrash(evidence, crash),
    ],
    chain: [
      link(workload, `runs ${imageName(crash)}`),
      ...group.slice(0, 3).map((entry) => link(entry.pod, `on ${archOf(facts, entry.pod)}: exec format error`)),
    ],
    contributing: newNodes
      ? [{ owner: 'app', action: text(`Build ${imageName(crash)} for ${archs[0]} as well, or pin its architecture.`) }]
      : owner === 'app' && archs.length === 1 && good.length > 0
        ? [
            {
              owner: 'platform',
              action: text(
                `Tell teams that the pool offers ${[...archs, ...good].join(' and ')}, or offer one architecture by default.`,
              ),
            },
          ]
        : [],
    nextSteps: [
      text(
        `Build ${imageName(crash)} for ${archs.join(', ') || 'all'} as well (docker buildx build --platform), or pin nodeSelector kubernetes.io/arch: ${good[0] ?? 'the one it is built for'}.`,
      ),
      text(`docker manifest inspect ${imageName(crash)}`),
    ],
  };
};
