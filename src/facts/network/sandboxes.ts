import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import type { LogLine } from '../logs/log-search.ts';
import { linesLike } from '../logs/log-search.ts';

/** A plugin that has no address to give, in the words of the AWS, Azure, GKE, Alibaba, Calico, Cilium and host-local plugins. */
const noAddress =
  /failed to assign an IP|InsufficientFreeAddresses|InsufficientCidrBlocks|No more IPs available|no available IPs?\b|no IP addresses available|Failed to allocate (address|ip)|range is full|IP_SPACE_EXHAUSTED|IpNotEnough|not enough (free )?(ip )?addresses|no free address|No available (addresses|IPs)|ran out of IPs|ipam.*(exhausted|full)|pool exhausted|subnet.*full/i;
const handler =
  /no runtime for "([^"]+)" is configured|RuntimeHandler "([^"]+)" not supported|unknown runtime handler "?([\w-]+)/i;

export interface SandboxFailure {
  pod: KubeObject;
  node: KubeObject | undefined;
  event: KubeEvent;
  kind: 'address' | 'handler' | 'runtime' | 'network' | 'other';
  handler?: string;
}

const kindOf = (message: string): SandboxFailure['kind'] => {
  if (noAddress.test(message)) return 'address';
  if (handler.test(message)) return 'handler';
  if (
    /DeadlineExceeded|context deadline exceeded|containerd|sock|shim|runc|cgroup|failed to (create|start) (shim|sandbox) task|name .* is reserved/i.test(
      message,
    ) &&
    !/plugin type=/.test(message)
  )
    return 'runtime';
  if (/failed to set ?up network|plugin type=|cni|NetworkPlugin|network/i.test(message)) return 'network';
  return 'other';
};

/** Pods whose sandbox cannot be made, with the last word of the kubelet about it. */
export const sandboxFailures = onceFor((facts: ClusterFacts): SandboxFailure[] =>
  facts.all('Pod').flatMap((pod) => {
    if (pod.status?.phase === 'Running') return [];
    const event = facts
      .eventsAbout(pod)
      .findLast((entry) => entry.reason === 'FailedCreatePodSandBox' || entry.reason === 'NetworkNotReady');
    if (!event) return [];
    const match = handler.exec(event.message);
    return [
      {
        pod,
        node: facts.nodeOf(pod),
        event,
        kind: kindOf(event.message),
        ...(match ? { handler: match[1] ?? match[2] ?? match[3] } : {}),
      },
    ];
  }),
);

/** What the address managers say about the subnet itself. */
const exhausted =
  /InsufficientFreeAddressesInSubnet|InsufficientCidrBlocks|IP_SPACE_EXHAUSTED|IpNotEnough|SubnetIsFull|SubnetFull|not enough free addresses|does not have enough free addresses/;

export const exhaustedLines = (facts: ClusterFacts): LogLine[] => linesLike(facts, exhausted);
export const saysExhausted = (text: string): boolean => exhausted.test(text);

/** Subnets of the cluster with at most so few free addresses. An interface or a warm pool takes more than one. */
const fewAddresses = 3;

export const fullSubnets = (facts: ClusterFacts, zone?: string): any[] =>
  ((facts.cloud('ec2.describeSubnets')?.Subnets ?? []) as any[]).filter(
    (subnet) => subnet.AvailableIpAddressCount <= fewAddresses && (!zone || subnet.AvailabilityZone === zone),
  );
