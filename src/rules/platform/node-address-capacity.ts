import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { nodeClassOf } from '../../facts/capacity/pools.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike } from '../../facts/logs/log-search.ts';
import { fullSubnets, sandboxFailures } from '../../facts/network/sandboxes.ts';
import { zoneOf } from '../../facts/nodes/nodes.ts';
import { isFinished } from '../../facts/pods.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

const atLimit =
  /max ENI limit is already reached|ENI limit (has been |is )?reached|AttachmentLimitExceeded|maximum number of (ENIs|interfaces)|PrivateIpAddressLimitExceeded/i;
const pool = /Total IPs\/Prefixes = (\d+)\/(\d+), AssignedIPs\/CooldownIPs: (\d+)\/(\d+)/;

export default rule({
  title: 'A node accepts more pods than its network interfaces can hold addresses for',
  lookAlikes: [
    'the subnet is exhausted: all nodes of the zone suffer',
    'an interface that cannot be attached: the instance’s state',
  ],
  judge(facts) {
    const byNode = new Map<KubeObject, ReturnType<typeof sandboxFailures>>();
    for (const failure of sandboxFailures(facts).filter((entry) => entry.kind === 'address'))
      if (failure.node) byNode.set(failure.node, [...(byNode.get(failure.node) ?? []), failure]);
    return [...byNode].flatMap(([node, failures]) => {
      const room = roomOf(facts, node);
      const allowed = Number(node.status?.allocatable?.pods);
      if (!room || !(allowed > room.capacity) || fullSubnets(facts, zoneOf(node)).length > 0) return [];
      const pods = failures.map((failure) => failure.pod);
      const nodeClass = nodeClassOf(facts, facts.claimOf(node));
      const maxPods = nodeClass?.spec?.kubelet?.maxPods;
      const running = facts
        .podsOn(node.metadata.name)
        .filter((pod) => !isFinished(pod) && !pod.spec?.hostNetwork).length;
      const evidence = cite('platform', facts);
      return [
        {
          mechanism: 'address-exhaustion' as const,
          explains: [
            'sandbox-network' as const,
            'pending' as const,
            'rollout' as const,
            'probe' as const,
            'unknown-symptom' as const,
            'job' as const,
            'dns' as const,
          ],
          owner: 'platform' as const,
          boundary: 'network' as const,
          strength: room.proven ? ('direct' as const) : ('derived' as const),
          cause: text(
            `Node ${node.metadata.name} (${node.metadata.labels?.['node.kubernetes.io/instance-type'] ?? 'its type'}) accepts ${allowed} pods${maxPods ? ` (maxPods ${maxPods} in ${nodeClass!.kind} ${nodeClass!.metadata.name})` : ''}, but its interfaces hold ${room.capacity} pod addresses, all assigned: ${pods.length} pods wait for an address.`,
          ),
          root: refOf(maxPods && nodeClass ? nodeClass : node),
          affects: [refOf(node), ...pods.flatMap((pod) => facts.ownerChain(pod).map(refOf))],
          onset: earliest(...failures.map((failure) => failure.event.firstAt)),
          evidence: [
            evidence.field(node, 'status.allocatable.pods'),
            ...(maxPods && nodeClass ? [evidence.field(nodeClass, 'spec.kubelet.maxPods')] : []),
            ...room.evidence,
            evidence.event(failures[0]!.event),
            ...fewSubnets(facts, node).map((subnet) =>
              evidence.aws(
                'ec2.describeSubnets',
                `${subnet.SubnetId}.AvailableIpAddressCount`,
                subnet.AvailableIpAddressCount,
                'not the subnet',
              ),
            ),
          ],
          chain: [
            link(node, `${running} pods, ${room.capacity} addresses, ${allowed} allowed`),
            ...pods.slice(0, 2).map((pod) => link(pod, 'no address')),
          ],
          nextSteps: [
            text(
              `Set maxPods to what the type can hold (${room.capacity}), or turn on prefix delegation: kubectl set env ds/aws-node -n kube-system ENABLE_PREFIX_DELEGATION=true; then replace the node.`,
            ),
            text(`Until then: kubectl cordon ${node.metadata.name} and delete the waiting pods.`),
          ],
        },
      ];
    });
  },
});

/** How many pod addresses the node can hold and that all are taken, from the CNI's log or metrics. */
const roomOf = (facts: ClusterFacts, node: KubeObject) => {
  const evidence = cite('platform', facts);
  const local = (log: { pod: string; namespace: string }): boolean =>
    facts.find('Pod', log.pod, log.namespace)?.spec?.nodeName === node.metadata.name;
  const limit = linesLike(facts, atLimit, local).at(-1);
  const stats = linesLike(facts, pool, local).at(-1);
  const counts = stats && pool.exec(stats.line)!.slice(1).map(Number);
  const metric = (name: string) =>
    facts
      .series(name)
      .find((series) =>
        Object.values(series.labels).some(
          (value) => value === node.metadata.name || addressOf(node).some((address) => value.startsWith(`${address}:`)),
        ),
      );
  const [total, assigned, max, allocated] = [
    'awscni_total_ip_addresses',
    'awscni_assigned_ip_addresses',
    'awscni_eni_max',
    'awscni_eni_allocated',
  ].map(metric);
  const byMetrics =
    total &&
    assigned &&
    lastValue(assigned) >= lastValue(total) &&
    max &&
    allocated &&
    lastValue(allocated) >= lastValue(max);
  const byLog = limit && counts && counts[1] === 0 && counts[2]! >= counts[0]!;
  if (!byMetrics && !byLog) return undefined;
  return {
    capacity: byLog ? counts[0]! : lastValue(total),
    proven: Boolean(byLog || byMetrics),
    evidence: [
      ...(limit ? [evidence.log(limit.log, limit.line)] : []),
      ...(stats ? [evidence.log(stats.log, stats.line)] : []),
      ...(byMetrics
        ? [
            evidence.series(assigned!, `${lastValue(assigned)} of ${lastValue(total)} assigned`),
            evidence.series(allocated!, `${lastValue(allocated)} of ${lastValue(max)} interfaces`),
          ]
        : []),
    ],
  };
};

const addressOf = (node: KubeObject): string[] => (node.status?.addresses ?? []).map((entry: any) => entry.address);

const fewSubnets = (facts: ClusterFacts, node: KubeObject): any[] =>
  ((facts.cloud('ec2.describeSubnets')?.Subnets ?? []) as any[])
    .filter((subnet) => subnet.AvailabilityZone === zoneOf(node))
    .slice(0, 1);
