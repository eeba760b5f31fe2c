import type { Gap } from '../../domain/facts.ts';
import { iamAction } from './operations.ts';

const denied =
  /^(AccessDenied|AccessDeniedException|UnauthorizedOperation|UnauthorizedAccess|AuthorizationError|AuthorizationErrorException|NotAuthorized|ForbiddenException)$/;
const throttled =
  /^(Throttling|ThrottlingException|ThrottledException|RequestLimitExceeded|RequestThrottled|RequestThrottledException|TooManyRequestsException|SlowDown|BandwidthLimitExceeded|LimitExceededException)$/;
const absent =
  /^(ResourceNotFoundException|NotFoundException|NoSuchEntity|NoSuchEntityException|NoSuchResourceException|QueueDoesNotExist|ImageNotFoundException|RepositoryNotFoundException|LoadBalancerNotFound|LoadBalancerNotFoundException|TargetGroupNotFound|TargetGroupNotFoundException|.*\.NotFound)$/;
const noCredentials = /^(CredentialsProviderError|TokenProviderError)$/;
const badCredentials =
  /^(ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|InvalidSignatureException|AuthFailure|InvalidAccessKeyId|MissingAuthenticationToken)$/;
const cutShort = /^(AbortError|TimeoutError)$/;

const nameOf = (error: unknown): string => (error as { name?: string })?.name ?? '';
/** The first line: the SDK adds advice to its users. */
const messageOf = (error: unknown): string => ((error as Error)?.message || String(error)).split('\n')[0]!;

export const isThrottled = (error: unknown): boolean =>
  throttled.test(nameOf(error)) || (error as any)?.$metadata?.httpStatusCode === 429;

/** Worth another try: throttled, the service's own failure, or a connection that broke. */
export const isTransient = (error: unknown): boolean =>
  isThrottled(error) ||
  (error as any)?.$metadata?.httpStatusCode >= 500 ||
  /^(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test((error as any)?.code ?? '');

/** The role that reads a cluster's account could not be taken on: every call to it fails alike. */
export class RoleError extends Error {
  override name = 'RoleError';
  readonly role: string;
  constructor(role: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.role = role;
  }
}

export const gapForNothing = (call: string): Gap => ({
  reason: 'not-found',
  message: `${call}: nothing of this incident to ask about`,
  fix: 'nothing to do',
});

export const gapForUnknown = (call: string): Gap => ({
  reason: 'not-configured',
  message: `no reader for the cloud API ${call}`,
  fix: "look in the provider's console",
});

/** Calls that were not made because the account's budget for them was used up. */
export const gapForBudget = (call: string): Gap => ({
  reason: 'failed',
  message: `${call}: the account's budget of calls is used up`,
  fix: 'run the triage again in a minute',
});

export const gapForCutShort = (call: string): Gap => ({
  reason: 'failed',
  message: `${call}: the list is too long to be read whole`,
  fix: `look it up: ${commandOf(call)}`,
});

export const gapForDenied = (call: string, message = 'AccessDenied'): Gap => ({
  reason: 'forbidden',
  message: `cannot call ${iamAction(call)}: ${message}`,
  fix: `allow \`${iamAction(call)}\` to the read role of this account`,
});

/** What an SDK error means for the reader of evidence. Never throws. */
export const gapForError = (call: string, error: unknown): Gap => {
  const name = nameOf(error);
  const message = messageOf(error).slice(0, 300);
  if (error instanceof RoleError) return gapForRole(error);
  if (name === 'SubscriptionRequiredException')
    return {
      reason: 'not-configured',
      message: 'AWS Health answers only accounts with a Business, Enterprise On-Ramp or Enterprise support plan',
      fix: 'look at https://health.aws.amazon.com/health/status, or take such a plan for this account',
    };
  if (noCredentials.test(name))
    return {
      reason: 'not-configured',
      message: `no AWS credentials: ${message}`,
      fix: 'give Faultline a role (EKS Pod Identity, IRSA or an instance profile) or AWS_PROFILE; see docs/aws.md',
    };
  if (badCredentials.test(name))
    return {
      reason: 'failed',
      message: `AWS refuses the credentials: ${name}`,
      fix: 'renew them: aws sts get-caller-identity',
    };
  if (denied.test(name)) return gapForDenied(call, message);
  if (absent.test(name)) return { reason: 'not-found', message: `${call}: ${message}`, fix: 'nothing to do' };
  if (cutShort.test(name))
    return {
      reason: 'timeout',
      message: `${call} did not answer in time`,
      fix: 'raise triage.readTimeoutMs, or see whether this machine reaches the AWS endpoint',
    };
  return {
    reason: 'failed',
    message: `${call} failed: ${name && name !== 'Error' ? `${name}: ` : ''}${message}`,
    fix: isThrottled(error) ? 'run the triage again: the account was throttled' : `try it by hand: ${commandOf(call)}`,
  };
};

const gapForRole = ({ role, cause, message }: RoleError): Gap =>
  noCredentials.test(nameOf(cause))
    ? gapForError('sts.assumeRole', cause)
    : denied.test(nameOf(cause))
      ? {
          reason: 'forbidden',
          message: `cannot assume ${role}: ${message.slice(0, 300)}`,
          fix: `let the trust policy of ${role} name Faultline's own role and this cluster's externalId; see docs/aws.md`,
        }
      : { reason: 'failed', message: `cannot assume ${role}: ${message.slice(0, 300)}`, fix: 'see docs/aws.md' };

const commandOf = (call: string): string => {
  const [service, name = ''] = call.split('.');
  return `aws ${service} ${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
};
