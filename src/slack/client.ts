import { type Logger, LogLevel, WebClient } from '@slack/web-api';

/** What Faultline needs of a logger; pino's has this shape. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Slack's libraries write through the application's logger, so that its redaction sees their words too. */
export const slackLogger = (log: Log): Logger => {
  const words = (parts: unknown[]): string => parts.map(String).join(' ');
  return {
    debug: (...parts) => log.debug(words(parts)),
    info: (...parts) => log.info(words(parts)),
    warn: (...parts) => log.warn(words(parts)),
    error: (...parts) => log.error(words(parts)),
    // Which levels are written is the application's decision; Slack's debug level prints whole payloads.
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  };
};

export interface SlackConnection {
  botToken: string;
  /** Ends in the API prefix; a test double, or Slack's own when absent. */
  apiUrl?: string;
  log: Log;
  /** Per call; ten seconds, since the library's default is none. */
  timeoutMs?: number;
}

/**
 * The client that posts: no retries of its own, since a repeated chat.postMessage is a second message; the outbox
 * repeats, after reading back. Rate limits are answers, not waits.
 */
export const postingClient = ({ botToken, apiUrl, log, timeoutMs = 10_000 }: SlackConnection): WebClient =>
  new WebClient(botToken, {
    ...(apiUrl ? { slackApiUrl: apiUrl } : {}),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    logger: slackLogger(log),
  });
