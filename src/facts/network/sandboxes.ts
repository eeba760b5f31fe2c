import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import type { LogLine } from '../logs/log-search.ts';
import { linesLike } from '../logs/log-search.ts';
import { containerStatuses, isReady } from '../pods.ts';
import { minutesBetween } from '../time.ts';

/** A plugin that has no address to give, in the words of the AWS, Azure, GKE, Alibaba, Calico, Cilium and host-local plugins. */
const noAddress =
  /failed to assign an IP|InsufficientFreeAddresses|InsufficientCidrBlocks|No more IPs available|no available IPs?\b|no IP addresses available|Failed to allocate (address|ip)|range is full|IP_SPACE_EXHAUSTED|IpNotEnough|not enough (free |available )?(ips?|addresses|ip ?addresses)\b|no free address|No available (addresses|IPs)|ran out of IPs|ipam.*(exhausted|full)|pool exhausted|no more free affine blocks|Assigned 0 out of \d|subnet.*full/i;
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

/** A sandbox that died is made anew in a pod whose phase stays Running: only a container that runs shows it was made. */
const runsSince = (pod: KubeObject, event: KubeEvent): boolean =>
  isReady(pod) ||
  containerStatuses(pod).some(
    ({ state }) => state?.running && !(minutesBetween(state.running.startedAt, event.lastAt) > 0),
  );

/** Pods whose sandbox cannot be made, with the last word of the kubelet about it. */
export const sandboxFailures = onceFor((facts: ClusterFacts): SandboxFailure[] =>
  facts.all('Pod').flatMap((pod) => {
    const event = facts
      .eventsAbout(pod)
      .findLast((entry) => entry.reason === 'FailedCreatePodSandBox' || entry.reason === 'NetworkNotReady');
    if (!event || runsSince(pod, event)) return [];
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
  /InsufficientFreeAddressesInSubnet|InsufficientCidrBlocks|IP_SPACE_EXHAUSTED|IpNotEnough|SubnetIsFull|SubnetFull|not enough free addresses|does not have enough free addresses|range is full|no IP addresses available in range set|postIpamFailure.*No more IPs available|no more free affine blocks|no (?:more )?(?:ip )?addresses (?:left|available) in (?:pool|ippool)|All (?:IPs|addresses) .*(?:in use|allocated)/i;

export const exhaustedLines = (facts: ClusterFacts): LogLine[] => linesLike(facts, exhausted);
export const saysExhausted = (text: string): boolean => exhausted.test(text);

/** Subnets of the cluster with at most so few free addresses. An interface or a warm pool takes more than one. */
const fewAddresses = 3;

export const fullSubnets = (facts: ClusterFacts, zone?: string): any[] =>
  ((facts.cloud('ec2.describeSubnets')?.Subnets ?? []) as any[]).filter(
    (subnet) => subnet.AvailableIpAddressCount <= fewAddresses && (!zone || subnet.AvailabilityZone === zone),
  );
