/** What a refused launch means, told by the vendor's code and sentence; never by the event's reason, which is a reaction. */
export type LaunchKind =
  | 'placement-group'
  | 'service-linked-role'
  | 'denied'
  | 'account-blocked'
  | 'balance'
  | 'addresses'
  | 'quota'
  | 'configuration'
  | 'service-error'
  | 'throttled'
  | 'shortage'
  | 'vague'
  | 'unknown';

/**
 * First match wins, so the order matters: sentences that name the customer's own limit come before the shortage code
 * that the vendor wraps them in. Codes: Karpenter's ToReasonMessage and the fleet errors it counts as capacity,
 * Azure's compute errors, GKE's and Cluster Autoscaler's classes, Alibaba's container instance reasons.
 */
const kinds: [LaunchKind, RegExp][] = [
  ['placement-group', /placement group/i],
  ['service-linked-role', /ServiceLinkedRole|SpotSLRCreationFailed|service-linked role/i],
  [
    'account-blocked',
    /PendingVerification|AccountPending|account is (currently )?blocked|OptInRequired|account.{0,40}(suspended|being validated)/i,
  ],
  ['balance', /InsufficientBalance|Arrearage|enough balance|InvalidAccountStatus|in arrears/i],
  [
    'denied',
    /\bUnauthori[sz]ed|Access ?Denied|explicit deny|service control policy|permissions boundary|not authorized|AuthFailure|AMIAuthorizationFailure|AuthorizationFailed|LinkedAuthorizationFailed|RequestDisallowedByPolicy|POLICY_CONSTRAINT|Constraint constraints\/|orgpolicy|Forbidden\.RAM|PERMISSION_DENIED|service\.account\.deleted|InvalidKMSKey|KMS key|Client\.InternalError|Client error on launch/i,
  ],
  [
    'addresses',
    /InsufficientFreeAddress|free addresses|SubnetIsFull|SubnetFull|IP_SPACE_EXHAUSTED|ip\.space\.exhausted|IP space (is )?exhausted|IpNotEnough|InsufficientIp|not enough (private )?(ip )?address|insufficient IP/i,
  ],
  [
    'quota',
    /VcpuLimitExceeded|MaxSpotInstanceCount|SpotQuotaExceeded|FleetCountExceeded|FleetQuotaExceeded|InstanceLimitExceeded|ReservationCapacityExceeded|VolumeLimitExceeded|Quota_?Exceeded|quota exceeded|quota '?[\w-]+'? exceeded|quota\.exceeded|exceeded.{0,12}quota|exceeding approved|QuotaReached|capacity limit for your subscription|vCPU limit|vCPU capacity than your current|Quota(Full|ExceedLimit)|Quota\w*Exceed|max\w* quota|(?<!\w)LimitExceeded\b/i,
  ],
  ['shortage', /do not have sufficient .{0,60}capacity/i],
  // Karpenter's words where the fleet gave no code at all.
  ['vague', /all requested instance types were unavailable/i],
  [
    'shortage',
    /InsufficientInstanceCapacity|InsufficientHostCapacity|InsufficientCapacity\b|AllocationFail|RESOURCE_POOL_EXHAUSTED|resource\.pool\.exhausted|out[. _]of[. _]resources|stockout|NoStock|StockExhaust|StockClose|out of stock|sold out|stock of the specified|SkuNotAvailable|SKUNotAvailable|OverconstrainedAllocation|OverconstrainedZonal|capacity-not-available|does not have (enough|sufficient) (resources|capacity)/i,
  ],
  [
    'configuration',
    /AMINotFound|InvalidAMI|LaunchTemplateNotFound|InvalidLaunchTemplate|launch template.{0,60}not (exist|found)|InstanceProfileNameInvalid|Invalid IAM Instance Profile|SecurityGroupSubnetVPCMismatch|Invalid(Subnet|Security)?Group|InvalidSubnet|InvalidGroup|InvalidParameter|InvalidBlockDevice|UserDataSize|userdata (is )?limited|FreeTierIneligible|AmiIdNotFound|Ec2(LaunchTemplate|Subnet|InstanceTypeDoesNot)|SpotMaxPriceTooLow|CpuOptionsNot|\bUnsupported(Operation)?\b|is not supported in your requested|SubnetResolutionFailed|InstanceTypeResolutionFailed|ImageNotFound|Iam(Node)?RoleNotFound|IamInstanceProfile/i,
  ],
  ['throttled', /RequestLimitExceeded|Throttl|Rate ?[Ll]imit|TooManyRequests|rateLimitExceeded/i],
  [
    'service-error',
    /\bInternal(Server|Execution|Operation)?(Error|Failure)\b|internal error|ServiceUnavailable|service unavailable|heavy load|\bUnavailable\b|EncounteredInternal|An internal error has occurred/i,
  ],
  ['vague', /UnfulfillableCapacity|Unknown error occurred/i],
];

/** Kind and code of a refusal, from the condition's reason and the message. */
export const launchKindOf = (reason: string, message: string): { kind: LaunchKind; code: string } => {
  const text = `${reason} ${message}`;
  const kind = kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? 'unknown';
  return { kind, code: codeOf(kind, reason, message) };
};

/** The vendor's own code in the text that belongs to this kind, else the reason. */
const codeOf = (kind: LaunchKind, reason: string, message: string): string => {
  const codes = [...message.matchAll(/\b([A-Z][A-Za-z_]+(?:\.[A-Z][A-Za-z]+)*)(?=:| \(|")/g)].map((match) => match[1]!);
  const own = kinds.filter(([name]) => name === kind).map(([, pattern]) => pattern);
  return (
    codes.find((code) => code.length > 7 && own.some((pattern) => pattern.test(code))) ??
    codes.find((code) => /[a-z][A-Z]/.test(code)) ??
    reason
  );
};
