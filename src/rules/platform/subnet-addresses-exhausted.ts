import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod } from '../../facts/logs/log-search.ts';
import { exhaustedLines, fullSubnets, sandboxFailures, saysExhausted } from '../../facts/network/sandboxes.ts';
import { zoneOf } from '../../facts/nodes/nodes.ts';
import { duration, earliest, minutesBetween } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

export default rule({
  title: 'Pods stop at sandbox networking because subnet or address range has no free address',
  lookAlikes: [
    'the subnet has thousands of free addresses: the node’s interfaces are full, or one is stuck',
    'the instance behind the node is not running',
    'launches refused for lack of addresses while the subject’s pods have theirs',
  ],
  judge(facts) {
    const failures = sandboxFailures(facts).filter((failure) => failure.kind === 'address');
    if (failures.length === 0) return [];
    const zones = [
      ...new Set(failures.map((failure) => zoneOf(failure.node)).filter((zone) => zone !== undefined)),
    ].sort();
    const subnets = zones.flatMap((zone) => fullSubnets(facts, zone));
    const said = lastPerPod(exhaustedLines(facts));
    const messages = failures.filter((failure) => saysExhausted(failure.event.message));
    if (subnets.length === 0 && said.length === 0 && messages.length === 0) return [];
    const evidence = cite('platform', facts);
    const pods = failures.map((failure) => failure.pod);
    const where = subnets
      .map((subnet) => `${subnet.SubnetId} (${subnet.CidrBlock}, ${subnet.AvailableIpAddressCount} free)`)
      .join(', ');
    return [
      {
        mechanism: 'address-exhaustion',
        explains: [
          'sandbox-network',
          'pending',
          'rollout',
          'launch-failed',
          'probe',
          'unknown-symptom',
          'dns',
          'scaling-limit',
          'job',
          'node-not-initialized',
        ],
        owner: 'platform',
        boundary: 'network',
        strength: subnets.length > 0 || messages.length > 0 ? 'direct' : 'derived',
        cause: text(
          `${subnets.length > 0 ? `The subnets ${where} have no addresses left` : 'The subnet or address range of the nodes has no free address'}, so the CNI cannot give ${pods.length} bound pods an IP.`,
        ),
        root: subnets[0] ? { kind: 'Subnet', name: subnets[0].SubnetId } : refOf(failures[0]!.node ?? pods[0]!),
        affects: pods.flatMap((pod) => facts.ownerChain(pod).map(refOf)),
        onset: earliest(...failures.map((failure) => failure.event.firstAt)),
        evidence: [
          ...subnets
            .slice(0, 3)
            .map((subnet) =>
              evidence.aws(
                'ec2.describeSubnets',
                `${subnet.SubnetId}.AvailableIpAddressCount`,
                subnet.AvailableIpAddressCount,
                `${subnet.CidrBlock} in ${subnet.AvailabilityZone}`,
              ),
            ),
          ...said.slice(0, 2).map((entry) => evidence.log(entry.log, entry.line)),
          ...failures.slice(0, 2).map((failure) => evidence.event(failure.event)),
        ],
        chain: [
          ...subnets.slice(0, 1).map((subnet) => ({
            object: `Subnet ${subnet.SubnetId}`,
            claim: `${subnet.AvailableIpAddressCount} free addresses`,
          })),
          ...pods
            .slice(0, 2)
            .map((pod) =>
              link(pod, `no address for ${duration(minutesBetween(pod.metadata.creationTimestamp, facts.now))}`),
            ),
        ],
        nextSteps: [
          text(
            'Add larger or secondary-CIDR subnets for pods (custom networking or pod subnets), or lower the warm pool: kubectl set env ds/aws-node -n kube-system WARM_IP_TARGET=2 MINIMUM_IP_TARGET=4',
          ),
          text('Free addresses now: remove unused interfaces and idle nodes in those subnets.'),
        ],
      },
    ];
  },
});
