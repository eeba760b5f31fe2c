import type { MissingRead } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { instanceIdOf, instanceStatusOf } from '../../facts/aws.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { harmedBy } from '../../facts/nodes/node-group.ts';
import { isSilent, leaseAgeMinutes, leaseOf, readiness, silentSince, spotLabelOf } from '../../facts/nodes/nodes.ts';
import { duration } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'A node has gone silent and nothing that was read says why',
  lookAlikes: [
    'a fresh lease contradicts Ready=Unknown: the node controller lags',
    'spot capacity is no proof of a reclaim',
  ],
  judge(facts, scope) {
    const nodes = facts
      .all('Node')
      .filter(
        (node) => isSilent(node) && (scope.wide || scope.nodes.includes(node) || scope.subjectNodes.includes(node)),
      );
    return nodes.map((node) => {
      const spot = spotLabelOf(node);
      const evidence = cite('platform', facts);
      const lease = leaseOf(facts, node);
      const age = leaseAgeMinutes(facts, lease);
      const status = instanceStatusOf(facts, node);
      const guest = status?.InstanceStatus?.Status === 'impaired' && status?.SystemStatus?.Status === 'ok';
      const fresh = age < 1;
      return {
        mechanism: 'node-silent' as const,
        explains: [
          'probe' as const,
          'eviction' as const,
          'unknown-symptom' as const,
          'node-removed' as const,
          'volume' as const,
        ],
        owner: guest ? ('platform' as const) : ('undetermined' as const),
        boundary: 'node' as const,
        strength: guest ? ('derived' as const) : ('circumstantial' as const),
        cause: text(
          fresh
            ? `Node ${node.metadata.name} is marked Unknown although its kubelet renewed its lease ${duration(age)} ago: the node controller lags behind.`
            : guest
              ? `Node ${node.metadata.name} is silent and fails the EC2 instance check while the system check passes: the guest hangs or has no network, the host is well.`
              : `Node ${node.metadata.name}${spot ? ' (spot)' : ''} has been silent since ${silentSince(facts, node) ?? 'some time'}; whether the vendor took it back, its host failed or it starved cannot be told from what could be read.`,
        ),
        root: refOf(node),
        affects: harmedBy(facts, [node]),
        onset: silentSince(facts, node),
        evidence: [
          evidence.condition(node, 'Ready'),
          ...(lease ? [evidence.field(lease, 'spec.renewTime')] : []),
          ...facts
            .eventsAbout(node, 'NodeNotReady')
            .slice(-1)
            .map((event) => evidence.event(event)),
          ...(status
            ? [
                evidence.aws(
                  'ec2.describeInstanceStatus',
                  `${instanceIdOf(node)}`,
                  `system ${status.SystemStatus?.Status}, instance ${status.InstanceStatus?.Status}`,
                ),
              ]
            : []),
          ...(spot ? [evidence.label(node, spot, 'a spot node; no proof of a reclaim')] : []),
        ],
        chain: [link(node, readiness(node)?.message ?? 'silent')],
        nextSteps: [
          text(
            `aws ec2 describe-instance-status --include-all-instances --instance-ids ${instanceIdOf(node) ?? '<instance>'}; kubectl get events -n default --field-selector involvedObject.name=${node.metadata.name}`,
          ),
          text(`If it stays silent, replace it: kubectl delete node ${node.metadata.name}`),
        ],
        missing: guest ? [] : missingFor(facts, node),
      };
    });
  },
});

const missingFor = (facts: ClusterFacts, node: KubeObject): MissingRead[] => {
  const aws = facts.identity.provider.startsWith('eks');
  const reads: (MissingRead | undefined)[] = [
    aws && !instanceStatusOf(facts, node)
      ? {
          layer: 'cloud',
          missing: `EC2 status checks of ${instanceIdOf(node) ?? node.metadata.name}`,
          fix: 'allow ec2:DescribeInstanceStatus for the read role',
        }
      : undefined,
    aws && !facts.cloud('cloudtrail.lookupEvents')
      ? {
          layer: 'cloud',
          missing: 'who terminated or reclaimed the instance (CloudTrail)',
          fix: 'allow cloudtrail:LookupEvents for the read role',
        }
      : undefined,
    aws
      ? undefined
      : {
          layer: 'cloud',
          missing: `state and host events of the machine behind ${node.metadata.name}`,
          fix: 'look at the VM in the provider’s console or activity log',
        },
    {
      layer: 'platform',
      missing: 'logs and settings of Karpenter or the node group around the loss',
      fix: 'grant pods/log in kube-system and karpenter, and list on the node classes',
    },
    {
      layer: 'app',
      missing: `memory and CPU of node ${node.metadata.name} before it fell silent`,
      fix: 'scrape node-exporter (node_memory_MemAvailable_bytes), or read the serial console for OOM',
    },
  ];
  return reads.filter((read) => read !== undefined);
};
