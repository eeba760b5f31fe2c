import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackLogger } from '../../src/slack/client.ts';
import { memoryLog } from '../fakes/log.ts';
import { SlackDouble } from '../fakes/slack/server.ts';

let slack: SlackDouble;
const client = (token = slack.botToken): WebClient =>
  new WebClient(token, { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, logger: slackLogger(memoryLog()) });
const channel = 'C0INCIDENTS';
const metadata = { event_type: 'faultline_message', event_payload: { key: 'k' } };

beforeEach(async () => {
  slack = await SlackDouble.start();
});
afterEach(() => slack.stop());

test('metadata payloads come back only with include_all_metadata', async () => {
  await client().chat.postMessage({ channel, text: 'x', metadata });
  const bare = await client().conversations.history({ channel });
  expect(bare.messages?.[0]?.metadata).toEqual({ event_type: 'faultline_message' });
  const whole = await client().conversations.history({ channel, include_all_metadata: true });
  expect(whole.messages?.[0]?.metadata).toEqual(metadata);
});

test('an update with text alone drops the blocks and keeps the metadata', async () => {
  const { ts } = await client().chat.postMessage({ channel, text: 'x', blocks: [{ type: 'divider' }], metadata });
  await client().chat.update({ channel, ts: ts!, text: 'y' });
  const [message] = slack.workspace.roots(channel);
  expect(message).toMatchObject({ text: 'y', metadata });
  expect(message).not.toHaveProperty('blocks');
});

test('ts are strings that grow within a channel, with a clock that stands still', async () => {
  await slack.stop();
  slack = await SlackDouble.start({ now: () => 1_795_163_121_000 });
  const ts = [];
  for (let i = 0; i < 5; i += 1) ts.push((await client().chat.postMessage({ channel, text: 'x' })).ts!);
  expect(ts).toEqual([...ts].sort());
  expect(new Set(ts).size).toBe(5);
  const other = await client().chat.postMessage({ channel: 'C0ANOTHER', text: 'x' });
  expect(ts).toContain(other.ts);
});

test('text beyond 4,000 characters is split when posted and refused when edited', async () => {
  const { ts } = await client().chat.postMessage({ channel, text: 'x'.repeat(4041) });
  expect(slack.workspace.roots(channel)).toHaveLength(2);
  await expect(client().chat.update({ channel, ts: ts!, text: 'x'.repeat(4001) })).rejects.toThrow('msg_too_long');
});

test.each([
  ['an empty text', [{ type: 'section', text: { type: 'mrkdwn', text: '' } }], 'invalid_blocks'],
  ['an alert block', [{ type: 'alert', text: { type: 'plain_text', text: 'x' } }], 'invalid_blocks'],
  ['51 blocks', Array(51).fill({ type: 'divider' }), 'invalid_blocks'],
  ['a long header', [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }], 'invalid_blocks'],
  [
    'an empty leaf',
    [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: '' }] }] }],
    'invalid_blocks',
  ],
  [
    'too much in all',
    Array(5).fill({ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(2500) } }),
    'msg_blocks_too_long',
  ],
])('%s is refused whole', async (_, blocks, error) => {
  await expect(client().chat.postMessage({ channel, text: 'x', blocks: blocks as any })).rejects.toThrow(error);
  expect(slack.workspace.roots(channel)).toEqual([]);
});

test('tokens and scopes are checked', async () => {
  await expect(client('xoxb-wrong').auth.test()).rejects.toThrow('invalid_auth');
  await slack.stop();
  slack = await SlackDouble.start({ scopes: ['chat:write'] });
  await expect(client().conversations.history({ channel })).rejects.toThrow('missing_scope');
});

test('a thread is read parent first, the channel newest first and without replies', async () => {
  const root = await client().chat.postMessage({ channel, text: 'root' });
  await client().chat.postMessage({ channel, text: 'reply', thread_ts: root.ts! });
  await client().chat.postMessage({ channel, text: 'later' });
  const thread = await client().conversations.replies({ channel, ts: root.ts!, limit: 1 });
  expect(thread.messages?.map((message) => message.text)).toEqual(['root']);
  expect(thread.has_more).toBe(true);
  const history = await client().conversations.history({ channel });
  expect(history.messages?.map((message) => message.text)).toEqual(['later', 'root']);
});

test('it runs as a process of its own and is steered over HTTP', async () => {
  const child = spawn(process.execPath, ['test/fakes/slack/serve.ts', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { apiUrl, botToken } = JSON.parse(line);
    const control = (what: string, body?: object) =>
      fetch(apiUrl.replace('/api/', `/control/${what}`), body ? { method: 'POST', body: JSON.stringify(body) } : {});
    const remote = new WebClient(botToken, { slackApiUrl: apiUrl, retryConfig: { retries: 0 } });
    await control('faults', { method: 'chat.postMessage', kind: 'error', error: 'fatal_error' });
    await expect(remote.chat.postMessage({ channel, text: 'x' })).rejects.toThrow('fatal_error');
    await remote.chat.postMessage({ channel, text: 'x' });
    const state = (await (await control('state')).json()) as any;
    expect(state.channels[0].messages.map((message: any) => message.text)).toEqual(['x']);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
});
