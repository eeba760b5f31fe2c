import { describe, expect, test } from 'vitest';
import { connectPatiently } from '../../src/slack/connect.ts';
import { memoryLog } from '../fakes/log.ts';

const away = Object.assign(new Error('ECONNREFUSED'), { code: 'slack_webapi_request_error' });
const refused = Object.assign(new Error('An API error occurred: invalid_auth'), {
  code: 'slack_webapi_platform_error',
});
const busy = Object.assign(new Error('An API error occurred: internal_error'), { code: 'slack_webapi_platform_error' });
const never = new AbortController().signal;

/** Starts that end in turn as they are given; the last one again and again. */
const appOf = (...ends: (Error | null)[]) => {
  let tries = 0;
  return {
    start: async () => {
      const end = ends[Math.min(tries++, ends.length - 1)];
      if (end) throw end;
    },
    tries: () => tries,
  };
};

describe('connecting to Slack', () => {
  test('tries again while Slack is away or in trouble', async () => {
    const app = appOf(away, busy, null);
    await connectPatiently(app, memoryLog(), never, { startMs: 60_000, againMs: 1 });
    expect(app.tries()).toBe(3);
  });

  test('gives up at once when Slack refuses the token', async () => {
    const app = appOf(refused);
    await expect(connectPatiently(app, memoryLog(), never, { startMs: 60_000, againMs: 1 })).rejects.toThrow(
      'invalid_auth',
    );
    expect(app.tries()).toBe(1);
  });

  test('lets the start go on when it takes long, says so, and connects later', async () => {
    const { promise: back, resolve } = Promise.withResolvers<void>();
    const log = memoryLog();
    await connectPatiently({ start: () => back }, log, never, { startMs: 1, againMs: 1 });
    expect(JSON.stringify(log.lines)).toContain('their threads are posted when it does');
    resolve();
    await expect.poll(() => JSON.stringify(log.lines)).toContain('Slack answers: connected');
  });

  test('ends its tries with the process', async () => {
    const app = appOf(away);
    const stopping = new AbortController();
    const connecting = connectPatiently(app, memoryLog(), stopping.signal, { startMs: 60_000, againMs: 60_000 });
    await expect.poll(app.tries).toBe(1);
    stopping.abort();
    await connecting;
    expect(app.tries()).toBe(1);
  });
});
