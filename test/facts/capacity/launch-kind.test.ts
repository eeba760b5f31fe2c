import { expect, test } from 'vitest';
import { launchKindOf } from '../../../src/facts/capacity/launch-kind.ts';

const texts: [string, string, string][] = [
  [
    'shortage',
    '',
    'InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone you requested (us-west-2a).',
  ],
  [
    'shortage',
    '',
    'UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration.; InsufficientInstanceCapacity: no m6a',
  ],
  [
    'shortage',
    '',
    'Unsupported: Your requested instance type (g6.xlarge) is not supported in us-west-2d.; InsufficientInstanceCapacity: no g6',
  ],
  ['shortage', 'ZonalAllocationFailure', 'creating instance failed, AllocationFailed'],
  [
    'shortage',
    '',
    'Code="AllocationFailed" Message="Allocation failed. We do not have sufficient capacity for the requested VM size in this region."',
  ],
  ['shortage', 'ZONE_RESOURCE_POOL_EXHAUSTED', "The zone 'us-central1-a' does not have enough resources available"],
  [
    'shortage',
    '',
    'Node scale up in zones us-central1-a associated with this pod failed: GCE out of resources. Pod is at risk of not being scheduled.',
  ],
  ['shortage', 'NoStock', 'Create ECI failed because the specified instance is out of stock.'],
  [
    'placement-group',
    '',
    "InsufficientInstanceCapacity: You've reached the limit of instances in this spread placement group.",
  ],
  [
    'service-linked-role',
    '',
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
  ],
  [
    'denied',
    '',
    'UnauthorizedOperation: not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy',
  ],
  ['denied', '', 'Instance failed to launch. Client.InternalError: Client error on launch'],
  ['denied', 'AMIAuthorizationFailure', 'image is private'],
  ['quota', '', 'VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 64 allows'],
  ['quota', '', 'MaxSpotInstanceCountExceeded: Max spot instance count exceeded'],
  [
    'quota',
    'SubscriptionQuotaReached',
    'Operation could not be completed as it results in exceeding approved Total Regional Cores quota',
  ],
  ['quota', '', "Quota 'CPUS' exceeded. Limit: 72.0 in region us-central1."],
  ['quota', '', 'Node scale up in zones europe-west4-a associated with this pod failed: GCE quota exceeded.'],
  ['quota', 'FleetQuotaExceeded', 'too many fleets'],
  ['addresses', '', "InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-1'"],
  ['addresses', 'IP_SPACE_EXHAUSTED', 'Instance creation failed'],
  ['addresses', '', 'InvalidVSwitchId.IpNotEnough: The specified VSwitch has no enough IP'],
  ['configuration', 'InvalidAMIID', 'The image id does not exist'],
  [
    'configuration',
    '',
    'InvalidLaunchTemplateName.NotFoundException: At least one of the launch templates specified in the request does not exist',
  ],
  ['configuration', 'SecurityGroupSubnetVPCMismatch', 'belong to different networks'],
  ['service-error', 'InternalError', 'An internal error has occurred'],
  [
    'service-error',
    'UnknownError',
    'The ECI service is under heavy load while creating container group resources, please wait and try again later',
  ],
  ['throttled', 'RequestLimitExceeded', 'Request limit exceeded.'],
  [
    'account-blocked',
    'AccountPendingVerification',
    'Your request for accessing resources in this region is being validated',
  ],
  ['balance', 'InsufficientBalance', 'Your account does not have enough balance to purchase ECI'],
  [
    'vague',
    '',
    'UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.',
  ],
  ['unknown', 'LaunchFailed', 'something else'],
];

test.each(texts)('%s: %s %s', (kind, reason, message) => {
  expect(launchKindOf(reason, message).kind).toBe(kind);
});

test('the code is the one that belongs to the kind, not the first in the text', () => {
  const text = 'UnfulfillableCapacity: adjust.; InsufficientInstanceCapacity: none';
  expect(launchKindOf('', text).code).toBe('InsufficientInstanceCapacity');
});

/** Karpenter's reasons and fleet codes, EKS' node group health, AKS' and GKE's classes, Alibaba's conditions. */
const codes: Record<string, string[]> = {
  shortage: [
    ...['InsufficientInstanceCapacity', 'AllocationFailure', 'ZonalAllocationFailure', 'AllocationFailed'],
    ...['OverconstrainedAllocationFailure', 'OverconstrainedZonalAllocationFailure', 'SKUNotAvailable'],
    ...[
      'OverconstrainedZonalAllocationRequest',
      'ZONE_RESOURCE_POOL_EXHAUSTED',
      'NoStock',
      'StockExhaust',
      'StockClose',
    ],
    'scale.up.error.out.of.resources',
  ],
  quota: [
    ...['MaxSpotInstanceCountExceeded', 'VcpuLimitExceeded', 'VCPULimitExceeded', 'MaxFleetCountExceeded'],
    ...['FleetQuotaExceeded', 'SpotQuotaExceeded', 'ReservationCapacityExceeded', 'SubscriptionQuotaReached'],
    ...['InstanceLimitExceeded', 'LimitExceeded', 'QUOTA_EXCEEDED', 'scale.up.error.quota.exceeded'],
    'DiskCapacityQuotaFull',
  ],
  addresses: [
    ...['InsufficientFreeAddressesInSubnet', 'InsufficientFreeAddresses', 'IP_SPACE_EXHAUSTED'],
    'scale.up.error.ip.space.exhausted',
  ],
  denied: ['Unauthorized', 'AMIAuthorizationFailure', 'AccessDenied', 'scale.up.error.service.account.deleted'],
  'service-linked-role': ['SpotSLRCreationFailed', 'AuthFailure.ServiceLinkedRoleCreationNotPermitted'],
  configuration: [
    ...['AMINotFound', 'InvalidAMIID', 'LaunchTemplateNotFound', 'InstanceProfileNameInvalid', 'FreeTierIneligible'],
    ...['SecurityGroupSubnetVPCMismatch', 'UserDataSizeLimitExceeded', 'SubnetResolutionFailed', 'Unsupported'],
    ...['InstanceTypeResolutionFailed', 'Ec2LaunchTemplateNotFound', 'Ec2SubnetNotFound', 'IamNodeRoleNotFound'],
    ...['AmiIdNotFound', 'Ec2InstanceTypeDoesNotExist', 'CpuOptionsNotSupported', 'CpuOptionsNotValid'],
  ],
  'account-blocked': ['AccountPendingVerification'],
  balance: ['InsufficientBalance'],
  throttled: ['RequestLimitExceeded', 'Throttling'],
  'service-error': ['InternalError', 'InternalFailure'],
  vague: ['UnfulfillableCapacity', 'all requested instance types were unavailable during launch'],
  unknown: ['LaunchFailed', 'AsgInstanceLaunchFailures', 'scale.up.error.waiting.for.instances.timeout'],
};

test.each(Object.entries(codes).flatMap(([kind, list]) => list.map((code) => [code, kind] as const)))(
  '%s alone is %s, as a reason and inside a sentence',
  (code, kind) => {
    expect(launchKindOf(code, '').kind).toBe(kind);
    expect(launchKindOf('', `insufficient capacity, with fleet error(s), ${code}: more words`).kind).toBe(kind);
  },
);
