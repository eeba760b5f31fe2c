/**
 * What Slack's answers mean for a message. The lists are those of docs.slack.dev for chat.postMessage and chat.update.
 * `shrink`: refused for its content; as plain text it may pass. `channel`: the channel is the problem.
 * `recreate`: the message to edit is gone or closed. `uncertain`: a post may have arrived.
 */
export type Failure =
  | { kind: 'retry'; afterMs: number; reason: string }
  | { kind: 'uncertain' | 'shrink' | 'channel' | 'recreate' | 'permanent'; reason: string }
  | { kind: 'operator'; reason: string; fix: string };

const retryable = new Set([
  'ratelimited',
  'rate_limited',
  'service_unavailable',
  'team_added_to_org',
  'external_channel_migrating',
]);

/** Slack says of these that part of the work may be done. */
const halfDone = new Set(['internal_error', 'fatal_error', 'request_timeout']);

const shrinkable = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
  'attachment_payload_limit_exceeded',
  'metadata_too_large',
  'invalid_attachments',
  'markdown_text_conflict',
  'no_text',
  'block_mismatch',
]);

const channelProblems = new Set([
  'channel_not_found',
  'not_in_channel',
  'is_archived',
  'is_inactive',
  'cannot_reply_to_message',
  'posting_to_channel_denied',
  'ekm_access_denied',
  'message_limit_exceeded',
]);

const recreatable = new Set([
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'streaming_state_conflict',
]);

const operatorFixes: Record<string, string> = {
  missing_scope: 'add the scope to the app (manifest.json), then reinstall it',
  not_allowed_token_type: 'set SLACK_BOT_TOKEN to a bot token (xoxb-)',
  access_denied: 'let a workspace admin approve the app',
  no_permission: 'let a workspace admin allow the app to post here',
};
const tokenErrors = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired']);
const tokenFix = 'set SLACK_BOT_TOKEN to the bot token of the installed app';

/** Nothing was sent when the connection was never made. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Doubles from two seconds to two minutes. */
export const backoffMs = (attempts: number): number => Math.min(2000 * 2 ** Math.max(0, attempts), 120_000);

const platformFailure = (data: Record<string, unknown>, afterMs: number): Failure => {
  const error = String(data.error);
  const details = (data.response_metadata as { messages?: string[] } | undefined)?.messages ?? [];
  const reason = [error, ...details].join('; ').slice(0, 500);
  if (retryable.has(error)) return { kind: 'retry', afterMs: Math.max(afterMs, 30_000), reason };
  if (halfDone.has(error)) return { kind: 'uncertain', reason };
  if (shrinkable.has(error)) return { kind: 'shrink', reason };
  if (channelProblems.has(error) || error.startsWith('restricted_action')) return { kind: 'channel', reason };
  if (recreatable.has(error)) return { kind: 'recreate', reason };
  if (tokenErrors.has(error)) return { kind: 'operator', reason, fix: tokenFix };
  const fix = operatorFixes[error];
  if (!fix) return { kind: 'permanent', reason };
  return data.needed
    ? {
        kind: 'operator',
        reason: `${reason}: needs ${data.needed}`,
        fix: `add the scope ${data.needed} to the app, then reinstall it`,
      }
    : { kind: 'operator', reason, fix };
};

const httpFailure = (status: number): Failure =>
  status >= 500 || status === 408
    ? { kind: 'uncertain', reason: `HTTP ${status}` }
    : {
        kind: 'operator',
        reason: `HTTP ${status}`,
        fix: 'check SLACK_API_URL and the proxy between Faultline and Slack',
      };

const causeCode = (error: unknown): string | undefined => {
  for (let cause = error as any, depth = 0; cause && depth < 5; cause = cause.cause ?? cause.original, depth += 1)
    if (typeof cause.code === 'string' && neverConnected.has(cause.code)) return cause.code;
  return undefined;
};

/**
 * Classifies what a WebClient call threw. By `code` and not by class: a second copy of the library would make
 * `instanceof` fail silently.
 */
export const classify = (error: any, attempts: number): Failure => {
  const afterMs = backoffMs(attempts);
  const reason = String(error?.message ?? error).slice(0, 500);
  switch (error?.code) {
    case 'slack_webapi_platform_error':
      return platformFailure(error.data ?? {}, afterMs);
    case 'slack_webapi_rate_limited_error':
      return { kind: 'retry', afterMs: Number(error.retryAfter) * 1000, reason: 'rate limited' };
    case 'slack_webapi_http_error':
      return httpFailure(Number(error.statusCode));
    default:
      // A 429 without a usable Retry-After is a plain Error of the library.
      if (reason.startsWith('Retry header did not contain')) return { kind: 'retry', afterMs: 30_000, reason };
      return causeCode(error) ? { kind: 'retry', afterMs, reason } : { kind: 'uncertain', reason };
  }
};
