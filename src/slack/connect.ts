import { setTimeout as delay } from 'node:timers/promises';
import type { SlackApp } from './app.ts';
import type { Log } from './client.ts';

export interface Patience {
  /** How long a start waits for Slack before it goes on without. */
  startMs: number;
  /** Between two attempts to reach it. */
  againMs: number;
}

const usual: Patience = { startMs: 5000, againMs: 5000 };

/**
 * Connects to Slack, and answers when it is connected or `startMs` have passed. Where Slack is away, the service starts
 * without it: alerts are taken and triaged, their messages wait in the outbox, and buttons work once Slack answers.
 * @throws what Slack says when it refuses a token. A refusal that comes later is an unhandled rejection and ends the
 * process: a deaf bot is worse than one that is seen to end.
 */
export const connectPatiently = async (
  app: Pick<SlackApp, 'start'>,
  log: Log,
  stopped: AbortSignal,
  { startMs, againMs }: Patience = usual,
): Promise<void> => {
  const connected = untilConnected(app, log, stopped, againMs);
  const isLate = await Promise.race([connected.then(() => false), delay(startMs, true, { ref: false })]);
  if (!isLate) return;
  log.warn('Slack does not answer yet: alerts are taken and triaged, and their threads are posted when it does');
  void connected.then(() => stopped.aborted || log.info('Slack answers: connected'));
};

const untilConnected = async (
  app: Pick<SlackApp, 'start'>,
  log: Log,
  stopped: AbortSignal,
  againMs: number,
): Promise<void> => {
  while (!stopped.aborted) {
    try {
      await app.start();
      return;
    } catch (error) {
      if (isRefusal(error)) throw error;
      log.warn(`Slack cannot be reached: ${(error as Error).message}`);
      await delay(againMs, undefined, { signal: stopped }).catch(() => {});
    }
  }
};

/** Slack's own trouble passes; all else that it answers is about the token or the app. */
const passing = /ratelimited|rate_limited|service_unavailable|internal_error|fatal_error|request_timeout/;

const isRefusal = (error: unknown): boolean => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'slack_webapi_platform_error') return !passing.test(message);
  return !String(code ?? '').startsWith('slack_');
};
