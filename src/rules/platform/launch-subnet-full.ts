import { cite } from '../../facts/cite.ts';
import { rule } from '../../triage/rule.ts';
import { countOf, type FailedGroup, failedGroups, launchFinding, nameOfGroup, vendorText } from '../launches.ts';

export default rule({
  title: 'Launches fail because the subnet or address range of the pool has no free addresses',
  lookAlikes: ['Karpenter files it under insufficient capacity', 'pods without an address on a running node'],
  judge(facts) {
    return failedGroups(facts, ['addresses'])
      .filter((group) => group.open)
      .map((group) => {
        const evidence = cite('platform', facts);
        const subnets: any[] = facts.cloud('ec2.describeSubnets')?.Subnets ?? [];
        const lost = unresolved(group);
        return launchFinding(facts, group, {
          layer: 'platform',
          owner: 'platform',
          boundary: 'network',
          strength: 'direct',
          cause: `${nameOfGroup(group)} launches into a subnet without free addresses: “${vendorText(group)}”${lost.length > 0 ? `; of the subnets its class names, ${lost.join(', ')} matched none` : ''}; ${countOf(group.waiting)} wait.`,
          more: [
            ...(group.nodeClass
              ? [
                  evidence.field(group.nodeClass, 'spec.subnetSelectorTerms'),
                  evidence.field(group.nodeClass, 'status.subnets'),
                ]
              : []),
            ...subnets
              .map((subnet, index) => ({ subnet, index }))
              .filter(({ subnet }) => mentioned(group, subnet.SubnetId))
              .slice(0, 4)
              .map(({ subnet, index }) =>
                evidence.aws(
                  'ec2.describeSubnets',
                  `Subnets[${index}].AvailableIpAddressCount`,
                  subnet.AvailableIpAddressCount,
                  `${subnet.SubnetId} ${subnet.CidrBlock} ${subnet.AvailabilityZone}`,
                ),
              ),
          ],
          nextSteps: [
            ...(lost.length > 0
              ? [
                  `Correct the subnet selector of ${group.nodeClass?.kind} ${group.nodeClass?.metadata.name}: ${lost.join(', ')} matches no subnet.`,
                ]
              : []),
            'Give the pool a larger or further subnet (secondary CIDR), or free addresses: warm pools and leftover interfaces hold some.',
          ],
        });
      });
  },
});

/** Subnet ids in the class's selector that its status did not resolve: a typo leaves all nodes in the others. */
const unresolved = (group: FailedGroup): string[] => {
  const found = new Set((group.nodeClass?.status?.subnets ?? []).map((subnet: any) => subnet.id));
  return (group.nodeClass?.spec?.subnetSelectorTerms ?? [])
    .map((term: any) => term.id)
    .filter((id: string | undefined) => id && !found.has(id));
};

const mentioned = (group: FailedGroup, id: string): boolean =>
  group.failures.some((entry) => entry.message.includes(id)) ||
  (group.nodeClass?.status?.subnets ?? []).some((subnet: any) => subnet.id === id) ||
  unresolved(group).some((term) => term.endsWith(id.slice(-17)));
