import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { isReady } from '../../facts/pods.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** What a program says when a setting of the node's kernel, shared by all that run there, is too small. */
const limits: [RegExp, string][] = [
  [/inotify (instances|watches)|inotify_(init|add_watch)|fs\.inotify|ENOSPC[^\n]*watch/i, 'fs.inotify'],
  [/vm\.max_map_count|max virtual memory areas/i, 'vm.max_map_count'],
  [/nf_conntrack: table full/i, 'net.netfilter.nf_conntrack_max'],
  [/too many open files in system|fs\.file-max/i, 'fs.file-max'],
  [/neigh(bou?r)?[ _:]+(table|arp_cache)[^\n]*overflow/i, 'net.ipv4.neigh.default.gc_thresh3'],
];

export default rule({
  title: 'A kernel setting of some nodes is too small for what runs there: programs end on them and run elsewhere',
  lookAlikes: [
    'a limit of the process itself (ulimit): the container’s own',
    'the program fails on every node alike: it asks for more than before, or its leak shows',
  ],
  judge(facts) {
    return limits.flatMap(([pattern, setting]) => {
      const lines = grep(facts, loggedPods(facts), pattern).filter((line) => podOf(facts, line)?.spec?.nodeName);
      return lines.length > 0 ? finding(facts, lines, setting) : [];
    });
  },
});

const podOf = (facts: ClusterFacts, line: PodLogLine) => facts.find('Pod', line.log.pod, line.log.namespace);

const finding = (facts: ClusterFacts, lines: PodLogLine[], setting: string): FindingDraft[] => {
  const all = [...new Set(lines.map((line) => podOf(facts, line)!))];
  const workloads = [...new Set(all.map((pod) => facts.workloadOf(pod)))];
  const nodes = [...new Set(all.map((pod) => pod.spec?.nodeName as string))];
  const well = workloads
    .flatMap((workload) => facts.podsOf(workload))
    .filter((pod) => isReady(pod) && !nodes.includes(pod.spec?.nodeName));
  // Without a sibling that runs elsewhere, or a second victim, it may be the program's own hunger.
  if (well.length === 0 || (workloads.length < 2 && all.length < 2)) return [];
  const evidence = cite('platform', facts);
  const pools = poolsOf(facts, nodes);
  // Something that prepares nodes and does not run on these is where the setting should have come from.
  const absent = facts
    .all('DaemonSet')
    .filter((set) => /sysctl|tuned|node-(config|setup|init|tun)/i.test(set.metadata.name))
    .filter((set) => !facts.podsOf(set).some((pod) => nodes.includes(pod.spec?.nodeName)));
  return [
    {
      mechanism: 'node-runtime',
      explains: ['crash', 'probe', 'application-error', 'rollout', 'unknown-symptom', 'dependency'],
      owner: 'platform',
      boundary: 'node',
      strength: absent.length > 0 && workloads.length > 1 ? 'direct' : 'derived',
      cause: text(
        `Nodes ${nodes.slice(0, 4).join(', ')}${pools ? ` (${pools})` : ''} keep too small a ${setting} for what runs there: ${workloads.map(nameOf).slice(0, 3).join(', ')} fail on them and run elsewhere${absent[0] ? `; ${nameOf(absent[0])} does not cover them` : ''}.`,
      ),
      root: absent[0] ? refOf(absent[0]) : { kind: 'Node', name: nodes[0]! },
      affects: [...all, ...workloads].map(refOf),
      evidence: [
        ...groupBy(lines, (line) => line.log.pod)
          .slice(0, 3)
          .map((group) => evidence.log(group[0]!.log, group[0]!.text)),
        ...absent
          .slice(0, 1)
          .map((set) =>
            evidence.field(set, 'spec.template.spec', JSON.stringify(placement(set.spec?.template?.spec)), pools),
          ),
        ...well.slice(0, 1).map((pod) => evidence.field(pod, 'spec.nodeName')),
      ],
      chain: [
        ...(absent[0] ? [link(absent[0], `does not set ${setting} on these nodes`)] : []),
        ...all.slice(0, 3).map((pod) => link(pod, `meets the limit ${setting} on ${pod.spec?.nodeName}`)),
      ],
      nextSteps: [text(`Raise ${setting} on these nodes as on the others, then restart the pods there.`)],
    },
  ];
};

const placement = (spec: any) => ({
  nodeSelector: spec?.nodeSelector,
  affinity: spec?.affinity,
  tolerations: spec?.tolerations,
});

const poolsOf = (facts: ClusterFacts, nodes: string[]): string => {
  const key =
    /^(karpenter\.sh\/nodepool|eks\.amazonaws\.com\/nodegroup|cloud\.google\.com\/gke-nodepool|(kubernetes\.azure\.com\/)?agentpool|alibabacloud\.com\/nodepool-id|node\.kubernetes\.io\/pool)$/;
  return [
    ...new Set(
      nodes.flatMap((name) =>
        Object.entries(facts.find('Node', name)?.metadata.labels ?? {})
          .filter(([label]) => key.test(label))
          .map(([label, value]) => `${label}=${value}`),
      ),
    ),
  ].join(', ');
};
