import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeMisfits } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { lastPerPod, linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { groupOf } from '../../facts/nodes/nodes.ts';
import { isReady, podSpecOf } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** Lookups sent to the link-local address of a cache on the node itself, and not answered there. */
const unanswered = /169\.254\.(?:20|25)\.\d+:53\b.*(?:refused|timeout|timed out|unreachable)/;
const cacheLabel = /^(node-local-dns|nodelocaldns)/;

export default rule({
  title: 'Pods ask a DNS cache on their node that does not run there',
  lookAlikes: [
    'the cache runs and its upstream does not answer: cluster DNS or the resolver',
    'every node fails alike: cluster DNS',
  ],
  judge(facts, scope) {
    const lines = linesLike(facts, unanswered);
    const asked = lines
      .map(({ log }) => facts.find('Pod', log.pod, log.namespace))
      .filter((pod): pod is KubeObject => pod !== undefined && !cacheLabel.test(pod.metadata.name));
    const bare = [...new Set(asked.map((pod) => facts.nodeOf(pod)))].filter(
      (node): node is KubeObject => node !== undefined && !caches(facts).some((pod) => runsOn(pod, node)),
    );
    const victims = [...new Set(asked)].filter((pod) => bare.includes(facts.nodeOf(pod) as KubeObject));
    if (bare.length === 0 || victims.length === 0) return [];
    const set = facts.all('DaemonSet').find((entry) => cacheLabel.test(entry.metadata.name));
    const served = facts.all('Node').filter((node) => caches(facts).some((pod) => runsOn(pod, node)));
    const evidence = cite('platform', facts);
    const taint = set && bare[0] ? nodeMisfits(facts, set, bare[0])[0] : undefined;
    const pools = [...new Set(bare.map((node) => groupOf(node)).filter(Boolean))];
    const where = `${bare.length} nodes${pools.length > 0 ? ` of ${pools.join(', ')}` : ''}`;
    return [
      {
        mechanism: 'dns',
        explains: ['application-error', 'dependency', 'probe', 'crash', 'unknown-symptom', 'network', 'rollout', 'job'],
        owner: 'platform',
        boundary: 'dns',
        strength: served.length > 0 && set ? 'direct' : 'derived',
        cause: text(
          `Nothing answers on the node-local DNS address on ${where}: ${set ? `DaemonSet ${set.metadata.namespace}/${set.metadata.name} runs on ${served.length} of ${facts.all('Node').length} nodes and not there${taint ? ` (${taint.offered})` : ''}` : 'no node-local DNS cache was found in the cluster'}.`,
        ),
        root: set ? refOf(set) : refOf(bare[0]!),
        affects: [
          ...victims.flatMap((pod) => facts.ownerChain(pod)),
          ...victims.flatMap((pod) => facts.servicesOf(pod)),
          ...bare,
          ...scope.pods.filter((pod) => !isReady(pod) && bare.includes(facts.nodeOf(pod) as KubeObject)),
        ].map(refOf),
        onset: earliest(...lines.map(({ line }) => timeOf(line, facts.now))),
        evidence: [
          ...lastPerPod(lines)
            .slice(0, 2)
            .map((entry) => evidence.log(entry.log, entry.line)),
          ...(set
            ? [
                evidence.field(
                  set,
                  'status.currentNumberScheduled',
                  set.status?.currentNumberScheduled ?? served.length,
                ),
                evidence.field(set, 'spec.template.spec.tolerations', podSpecOf(set).tolerations ?? []),
              ]
            : []),
          ...bare.slice(0, 2).map((node) => evidence.field(node, 'spec.taints', node.spec?.taints ?? [])),
        ],
        chain: [
          ...(set ? [link(set, taint ? `does not tolerate ${taint.offered}` : 'has no pod there')] : []),
          ...bare.slice(0, 2).map((node) => link(node, 'no DNS cache')),
          ...victims.slice(0, 2).map((pod) => link(pod, 'lookups get no answer')),
        ],
        nextSteps: [
          text(
            set
              ? `Let ${set.metadata.name} run on every node (tolerations: [{operator: Exists}]): kubectl -n ${set.metadata.namespace} edit daemonset ${set.metadata.name}`
              : 'Point --cluster-dns of these kubelets at the cluster DNS Service, or install the node-local cache.',
          ),
        ],
      },
    ];
  },
});

const caches = (facts: ClusterFacts): KubeObject[] =>
  facts
    .all('Pod')
    .filter((pod) => cacheLabel.test(pod.metadata.labels?.['k8s-app'] ?? pod.metadata.name) && isReady(pod));

const runsOn = (pod: KubeObject, node: KubeObject): boolean => pod.spec?.nodeName === node.metadata.name;
