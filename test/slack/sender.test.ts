import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OutboxRow } from '../../src/domain/message.ts';
import { postingClient } from '../../src/slack/client.ts';
import { loadMessages } from '../../src/slack/messages.ts';
import { createSlackSender } from '../../src/slack/sender.ts';
import { memoryLog } from '../fakes/log.ts';
import { outboxRow } from '../fakes/outbox-row.ts';
import type { Fault } from '../fakes/slack/faults.ts';
import { SlackDouble, type SlackDoubleOptions } from '../fakes/slack/server.ts';

const messages = loadMessages('templates/messages', 'en');
let slack: SlackDouble;
let log: ReturnType<typeof memoryLog>;

const start = async (options: SlackDoubleOptions = {}): Promise<void> => {
  slack = await SlackDouble.start(options);
  log = memoryLog();
};
beforeEach(() => start());
afterEach(() => slack.stop());

const sender = (overrides: { token?: string; apiUrl?: string; fallbackChannel?: string } = {}) =>
  createSlackSender({
    client: postingClient({
      botToken: overrides.token ?? slack.botToken,
      apiUrl: overrides.apiUrl ?? slack.apiUrl,
      log,
    }),
    messages,
    log,
    fallbackChannel: overrides.fallbackChannel ?? null,
  });
const fault = (kind: Fault['kind'], more: Partial<Fault> = {}): void =>
  slack.faults.add({ method: 'chat.postMessage', kind, ...more });
const send = (row: Partial<OutboxRow> = {}) => sender().send(outboxRow(row));
const posted = async (row: Partial<OutboxRow> = {}): Promise<string> => {
  const result = await send(row);
  if (result.outcome !== 'sent') throw new Error(JSON.stringify(result));
  return result.ts;
};

describe('a post', () => {
  test('returns channel and ts as strings and asks for no unfurling', async () => {
    const result = await send();
    const [root] = slack.workspace.roots('C0INCIDENTS');
    expect(result).toEqual({ outcome: 'sent', channel: 'C0INCIDENTS', ts: root?.ts });
    expect(root).toMatchObject({
      text: 'Critical: KubePodNotReady',
      metadata: {
        event_type: 'faultline_message',
        event_payload: { slot: 'root', revision: 1, key: '01JD2V7Q4Y8M3N6P9R0S1T2U3V/root' },
      },
    });
    const [call] = slack.workspace.calls;
    expect(call?.fields).toMatchObject({ unfurl_links: 'false', unfurl_media: 'false' });
    expect(call?.fields).not.toHaveProperty('link_names');
  });

  test('of a reply goes into its thread', async () => {
    const root = await posted();
    const reply = await posted({ slot: 'verdict', threadTs: root });
    expect(slack.workspace.replies('C0INCIDENTS', root).map((message) => message.ts)).toEqual([reply]);
  });

  test('to a channel by name is sent under its id', async () => {
    const result = await send({ channel: '#incidents' });
    expect(result).toMatchObject({ outcome: 'sent', channel: expect.stringMatching(/^C[A-Z0-9]+$/) });
  });
});

describe('an edit', () => {
  test('changes text, blocks and revision in place', async () => {
    const ts = await posted();
    const blocks = [{ type: 'divider' }];
    expect(await send({ ts, text: 'Resolved', blocks, revision: 2 })).toMatchObject({ outcome: 'sent', ts });
    const [root, ...others] = slack.workspace.roots('C0INCIDENTS');
    expect(others).toEqual([]);
    expect(root).toMatchObject({ text: 'Resolved', blocks, edits: 1, metadata: { event_payload: { revision: 2 } } });
  });

  test.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
    'refused by %s posts again',
    async (error) => {
      const ts = await posted();
      slack.faults.add({ method: 'chat.update', kind: 'error', error });
      const result = await send({ ts, revision: 2 });
      expect(result).toMatchObject({ outcome: 'sent' });
      expect(result).not.toMatchObject({ ts });
      expect(slack.count('chat.postMessage')).toBe(2);
    },
  );

  test('of a message that somebody deleted posts it again', async () => {
    const ts = await posted();
    slack.workspace.remove('C0INCIDENTS', ts);
    expect(await send({ ts, revision: 2 })).toMatchObject({ outcome: 'sent' });
    expect(slack.workspace.roots('C0INCIDENTS')).toHaveLength(1);
  });

  test('without an answer is simply repeated: it is the same message', async () => {
    const ts = await posted();
    slack.faults.add({ method: 'chat.update', kind: 'lost' });
    expect(await send({ ts, revision: 2, attempts: 2 })).toMatchObject({ outcome: 'retry', afterMs: 8000 });
  });
});

describe('a failure is', () => {
  test('retry with the delay that HTTP 429 names, at once and without a second request', async () => {
    fault('rate-limit', { retryAfterSeconds: 7 });
    expect(await send()).toEqual({ outcome: 'retry', afterMs: 7000, reason: 'rate limited' });
    expect(slack.count('chat.postMessage')).toBe(1);
  });

  test('retry after 30 s for a 429 that names no delay', async () => {
    fault('rate-limit', { retryAfterSeconds: null });
    expect(await send()).toMatchObject({ outcome: 'retry', afterMs: 30_000 });
  });

  test.each(['ratelimited', 'service_unavailable', 'team_added_to_org'])('retry for %s', async (error) => {
    fault('error', { error });
    expect(await send()).toMatchObject({ outcome: 'retry', afterMs: expect.any(Number) });
  });

  test.each(['internal_error', 'fatal_error', 'request_timeout'])('uncertain for %s', async (error) => {
    fault('error', { error });
    expect(await send()).toMatchObject({ outcome: 'uncertain' });
  });

  test.each([
    ['the answer is lost', 'lost', {}],
    ['the connection resets', 'reset', {}],
    ['HTTP 500 comes after the commit', 'status-after-commit', { status: 500 }],
    ['HTTP 503 comes', 'status', { status: 503 }],
  ] as const)('uncertain when %s, after one request', async (_, kind, more) => {
    fault(kind, more);
    expect(await send()).toMatchObject({ outcome: 'uncertain' });
    expect(slack.count('chat.postMessage')).toBe(1);
  });

  test('retry when no connection was made', async () => {
    const apiUrl = slack.apiUrl;
    await slack.stop();
    expect(await sender({ apiUrl }).send(outboxRow())).toMatchObject({ outcome: 'retry' });
    slack = await SlackDouble.start();
  });

  test('operator, with the scope to add', async () => {
    fault('error', { error: 'missing_scope', body: { needed: 'chat:write', provided: 'commands' } });
    expect(await send()).toMatchObject({
      outcome: 'operator',
      fix: 'add the scope chat:write to the app, then reinstall it',
    });
  });

  test('operator for a token that Slack refuses', async () => {
    const result = await sender({ token: 'xoxb-wrong' }).send(outboxRow());
    expect(result).toMatchObject({
      outcome: 'operator',
      reason: 'invalid_auth',
      fix: expect.stringContaining('SLACK_BOT_TOKEN'),
    });
  });

  test.each(['channel_not_found', 'not_in_channel', 'is_archived', 'restricted_action_read_only_channel'])(
    'operator for %s, naming the channel',
    async (error) => {
      fault('error', { error });
      expect(await send()).toMatchObject({ outcome: 'operator', fix: expect.stringContaining('C0INCIDENTS') });
    },
  );

  test('operator when something else than Slack answers', async () => {
    fault('status', { status: 404 });
    expect(await send()).toMatchObject({ outcome: 'operator', fix: expect.stringContaining('SLACK_API_URL') });
  });

  test('permanent for an error without any remedy', async () => {
    fault('error', { error: 'as_user_not_supported' });
    expect(await send()).toEqual({ outcome: 'permanent', reason: 'as_user_not_supported' });
  });
});

describe('content that Slack refuses', () => {
  const blocks = [
    { type: 'alert', text: { type: 'plain_text', text: 'x' } },
    { type: 'section', text: { type: 'mrkdwn', text: '<!subteam^S0614TZR7> Cluster platform' } },
    { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a <b> *c*' }] }] },
  ];

  test('is sent once more as plain text, escaped, with the mention that was ours', async () => {
    expect(await send({ blocks })).toMatchObject({ outcome: 'sent' });
    const [root] = slack.workspace.roots('C0INCIDENTS');
    expect(root?.blocks).toBeUndefined();
    expect(root?.text).toContain('<!subteam^S0614TZR7> Cluster platform\na &lt;b&gt; ∗c∗');
    expect(root?.text).toContain('Slack refused the full layout');
    expect(log.lines.map((line) => line.message).join()).toContain('sent as plain text: invalid_blocks');
  });

  test('in an edit as well', async () => {
    const ts = await posted();
    expect(await send({ ts, blocks, revision: 2 })).toMatchObject({ outcome: 'sent', ts });
    expect(slack.workspace.roots('C0INCIDENTS')[0]).not.toHaveProperty('blocks');
  });

  test('twice is permanent, not a loop', async () => {
    fault('error', { error: 'msg_too_long', times: 5 });
    expect(await send({ blocks })).toEqual({ outcome: 'permanent', reason: 'msg_too_long' });
    expect(slack.count('chat.postMessage')).toBe(2);
  });
});

describe('the fallback channel', () => {
  test('takes a root whose channel refuses it, and the log says so', async () => {
    const result = await sender({ fallbackChannel: 'C0FALLBACK' }).send(outboxRow({ channel: 'C0ERR_NOT_IN_CHANNEL' }));
    expect(result).toMatchObject({ outcome: 'sent', channel: 'C0FALLBACK' });
    expect(log.lines.map((line) => line.message).join()).toContain('C0ERR_NOT_IN_CHANNEL');
  });

  test('that refuses too is for the operator; a reply never leaves its thread', async () => {
    const both = sender({ fallbackChannel: 'C0ERR_IS_ARCHIVED' });
    expect(await both.send(outboxRow({ channel: 'C0ERR_NOT_IN_CHANNEL' }))).toMatchObject({ outcome: 'operator' });
    const reply = outboxRow({ channel: 'C0ERR_NOT_IN_CHANNEL', slot: 'verdict', threadTs: '1.000100' });
    expect(await sender({ fallbackChannel: 'C0FALLBACK' }).send(reply)).toMatchObject({ outcome: 'operator' });
  });
});

describe('reading back', () => {
  test.each(['lost', 'status-after-commit'] as const)(
    'finds a root that arrived although the answer was %s',
    async (kind) => {
      fault(kind);
      const row = outboxRow({ revision: 4 });
      expect(await sender().send(row)).toMatchObject({ outcome: 'uncertain' });
      const [root] = slack.workspace.roots('C0INCIDENTS');
      expect(await sender().find(row)).toEqual({ channel: 'C0INCIDENTS', ts: root?.ts, revision: 4 });
    },
  );

  test('finds nothing of a post that never arrived, nor of other slots and incidents', async () => {
    await posted({ incidentId: 'other' });
    await posted({ slot: 'else' });
    fault('reset');
    expect(await send()).toMatchObject({ outcome: 'uncertain' });
    expect(await sender().find(outboxRow())).toBeNull();
  });

  test('finds a reply in its thread', async () => {
    const root = await posted();
    fault('lost');
    const row = outboxRow({ slot: 'verdict', threadTs: root });
    expect(await sender().send(row)).toMatchObject({ outcome: 'uncertain' });
    const [reply] = slack.workspace.replies('C0INCIDENTS', root);
    expect(await sender().find(row)).toMatchObject({ ts: reply?.ts });
  });

  test('finds it in a channel that is configured by name, and in the fallback channel', async () => {
    fault('lost');
    await send({ channel: '#incidents' });
    expect(await sender().find(outboxRow({ channel: '#incidents' }))).toMatchObject({ revision: 1 });
    await sender({ fallbackChannel: 'C0FALLBACK' }).send(outboxRow({ channel: 'C0ERR_NOT_IN_CHANNEL', slot: 'fell' }));
    const row = outboxRow({ channel: 'C0ERR_NOT_IN_CHANNEL', slot: 'fell' });
    expect(await sender({ fallbackChannel: 'C0FALLBACK' }).find(row)).toMatchObject({ channel: 'C0FALLBACK' });
  });

  test('looks beyond the first page', async () => {
    const row = outboxRow();
    fault('lost');
    await sender().send(row);
    const channel = slack.workspace.channel('C0INCIDENTS');
    const [own] = channel!.messages;
    for (let i = 0; i < 450; i += 1)
      channel!.messages.push({ ...own!, ts: slack.workspace.nextTs(channel!), metadata: undefined as never });
    expect(await sender().find(row)).toMatchObject({ ts: own?.ts });
    expect(slack.count('conversations.history')).toBe(3);
  });

  test('takes only messages of our own bot', async () => {
    await posted();
    for (const message of slack.workspace.roots('C0INCIDENTS')) message.bot_id = 'B0SOMEBODY';
    expect(await sender().find(outboxRow())).toBeNull();
  });

  test('ignores what was posted long before the attempt', async () => {
    await posted();
    const attemptedAt = new Date(Date.now() + 10 * 60_000).toISOString();
    expect(await sender().find(outboxRow({ attemptedAt }))).toBeNull();
    expect(await sender().find(outboxRow({ attemptedAt: null }))).toBeNull();
    const uncertainSince = new Date().toISOString();
    expect(await sender().find(outboxRow({ attemptedAt, uncertainSince }))).not.toBeNull();
  });

  test('throws when it cannot read: uncertain is not absent', async () => {
    slack.faults.add({ method: 'conversations.history', kind: 'rate-limit' });
    await expect(sender().find(outboxRow())).rejects.toThrow();
    slack.faults.add({ method: 'conversations.history', kind: 'error', error: 'missing_scope' });
    await expect(sender().find(outboxRow())).rejects.toThrow('missing_scope');
  });
});

test('a call that never answers ends after the timeout, uncertain', async () => {
  fault('hang');
  const client = postingClient({ botToken: slack.botToken, apiUrl: slack.apiUrl, log, timeoutMs: 200 });
  const result = await createSlackSender({ client, messages, log, fallbackChannel: null }).send(outboxRow());
  expect(result).toMatchObject({ outcome: 'uncertain' });
});
