import { expect } from 'vitest';
import type { KubeObject } from '../../src/domain/kubernetes.ts';
import type { RuleDefinition } from '../../src/triage/rule.ts';
import { condition, findingsOf, type Situation } from './harness.ts';
import { claim, node, pool, subjectOf, waiting } from './nodes.ts';

export const pod = waiting('web-1');
export const subject = subjectOf(pod);

/** A pod waits for the pool, whose claim was refused for this reason. */
export const refusedBy = (reason: string, message: string, more: KubeObject[] = []): Situation => ({
  subject,
  objects: [
    pool('default'),
    pod,
    claim('default-abcde', 'default', { age: 4, conditions: [condition('Launched', 'Unknown', reason, message)] }),
    ...more,
  ],
});

/** One reason and sentence of every kind of refusal. */
export const reasons: Record<string, [string, string]> = {
  account: ['AccountPendingVerification', 'Your request for accessing resources in this region is being validated'],
  service: ['InternalError', 'An internal error has occurred'],
  configuration: ['AMINotFound', 'no AMIs exist given constraints'],
  userData: ['UserDataSizeLimitExceeded', 'User data is limited to 16384 bytes'],
  denied: ['Unauthorized', 'User is not authorized to perform this operation due to a permissions boundary'],
  quota: ['VCPULimitExceeded', 'more vCPU capacity than your current vCPU limit of 32 allows'],
  spotRole: [
    'SpotSLRCreationFailed',
    'User does not have sufficient permission to create the Spot Service-Linked Role',
  ],
  addresses: ['InsufficientFreeAddressesInSubnet', 'not enough free addresses in subnet'],
  placement: ['LaunchFailed', "You've reached the limit of instances in this spread placement group."],
  throttled: ['RequestLimitExceeded', 'Request limit exceeded.'],
  unknown: ['LaunchFailed', 'Instance launch failed'],
  shortage: ['LaunchFailed', 'We currently do not have sufficient m6a.xlarge capacity in the zone'],
};

export const hostedQuota =
  '{"code":"QuotaExceeded","message":"Create virtual machine /subscriptions/6f1d2c3b-7a58-4e90-b2f4-0c9d8e7f6a51/resourceGroups/hosted failed: exceeding approved cores quota"}';
export const nodeIn = (subscription: string): KubeObject =>
  node('n1', { providerID: `azure:///subscriptions/${subscription}/resourceGroups/mc/providers/vm` });

/** The rule speaks for these kinds, with this owner, and for no other. */
export const expectOnly = (rule: RuleDefinition, kinds: string[], owner: string): void => {
  for (const [kind, [reason, message]] of Object.entries(reasons))
    expect([kind, findingsOf(rule, refusedBy(reason, message)).map((finding) => finding.owner)]).toEqual([
      kind,
      kinds.includes(kind) ? [owner] : [],
    ]);
};
