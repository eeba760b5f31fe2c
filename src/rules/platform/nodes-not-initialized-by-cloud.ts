import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { names } from '../../facts/nodes/node-group.ts';
import { isReady } from '../../facts/pods.ts';
import { isManaged } from '../../facts/provider.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const taint = 'node.cloudprovider.kubernetes.io/uninitialized';
/** A node is initialised within seconds of its registration. */
const patienceMinutes = 5;
const manager = /cloud-controller-manager|^ccm-|cloud-node-manager/;
const refusedCall =
  /failed to (?:get|initialize)|error (?:initializing|syncing|getting)|Unauthorized|AccessDenied|not authorized|instance not found/i;

export default rule({
  title: 'New nodes keep the taint of the cloud provider: the cloud controller manager does not initialise them',
  lookAlikes: [
    'a node that registered a moment ago',
    'a startup taint of Karpenter or an agent: another key',
    'a managed cluster, where the manager is the vendor’s',
  ],
  judge(facts) {
    const nodes = facts
      .all('Node')
      .filter(
        (node) =>
          (node.spec?.taints ?? []).some((entry: any) => entry.key === taint) &&
          minutesBetween(node.metadata.creationTimestamp, facts.now) > patienceMinutes,
      );
    if (nodes.length === 0) return [];
    const { pods, lines } = managerOf(facts);
    const broken = pods.filter((pod) => !isReady(pod));
    const vendor = isManaged(facts) && pods.length === 0;
    // The manager also passes over a machine whose name it does not find: hostname or DHCP options of the customer’s.
    const owner = vendor ? 'undetermined' : 'platform';
    const waiting = facts.all('Pod').filter((pod) => pod.status?.phase === 'Pending' && !pod.spec?.nodeName);
    const evidence = cite(vendor ? 'cloud' : 'platform', facts);
    const why = vendor
      ? 'the vendor’s cloud controller manager has not looked at them'
      : broken[0]
        ? `${nameOf(broken[0])} is not ready`
        : lines[0]
          ? 'the cloud controller manager is refused or does not find their machines'
          : 'no cloud controller manager has looked at them';
    const finding: FindingDraft = {
      mechanism: 'node-not-initialized',
      explains: ['pending', 'scheduling', 'rollout', 'unknown-symptom', 'node-not-joining', 'pool-limit'],
      owner,
      boundary: 'provisioning',
      strength: broken.length > 0 || lines.length > 0 ? 'direct' : 'derived',
      cause: text(
        `${nodes.length} nodes (${names(nodes)}) keep the taint ${taint}, so no pod may go there: ${why}; ${waiting.length} pods wait.`,
      ),
      root: refOf(broken[0] ?? nodes[0]!),
      affects: [...nodes, ...waiting, ...broken].map(refOf),
      onset: earliest(...nodes.map((node) => node.metadata.creationTimestamp)),
      evidence: [
        ...nodes.slice(0, 3).map((node) => evidence.field(node, 'spec.taints')),
        ...broken.slice(0, 1).map((pod) => evidence.field(pod, 'status.containerStatuses')),
        ...lines.slice(-2).map(({ log, line }) => evidence.log(log, line)),
      ],
      chain: [
        ...broken.slice(0, 1).map((pod) => link(pod, 'not ready')),
        ...nodes.slice(0, 2).map((node) => link(node, 'not initialised')),
        ...waiting.slice(0, 2).map((pod) => link(pod, 'waits for a node')),
      ],
      missing: vendor
        ? [
            {
              layer: 'cloud',
              missing: 'what the vendor’s cloud controller manager says of these nodes',
              fix: 'read the control plane’s log of it (EKS: log type controllerManager; AKS: category cloud-controller-manager), and compare each node’s name with its machine’s private DNS name',
            },
          ]
        : [],
      nextSteps: [
        text(
          vendor
            ? 'Compare the nodes’ names with their machines’ private DNS names; if they agree, open a case with the vendor.'
            : 'kubectl -n kube-system get pods | grep cloud-controller, its log, its rights in the cloud, and that its own pods tolerate the taint.',
        ),
      ],
    };
    return [finding];
  },
});

const managerOf = (facts: ClusterFacts): { pods: KubeObject[]; lines: ReturnType<typeof linesLike> } => ({
  pods: facts.in('Pod', 'kube-system').filter((pod) => manager.test(pod.metadata.name)),
  lines: linesLike(facts, refusedCall, (log) => manager.test(log.pod)),
});
