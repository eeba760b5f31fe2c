import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadActions } from '../../src/slack/actions.ts';
import { createSlackApp } from '../../src/slack/app.ts';
import { postingClient } from '../../src/slack/client.ts';
import { loadForms } from '../../src/slack/forms.ts';
import { loadMessages } from '../../src/slack/messages.ts';
import { createSlackSender } from '../../src/slack/sender.ts';
import { memoryLog } from '../fakes/log.ts';
import { outboxRow } from '../fakes/outbox-row.ts';
import { scopesOf } from '../fakes/slack/methods.ts';
import { SlackDouble } from '../fakes/slack/server.ts';

const manifest = JSON.parse(readFileSync('manifest.json', 'utf8'));
const scopes: string[] = manifest.oauth_config.scopes.bot;
const messages = loadMessages('templates/messages', 'en');
let slack: SlackDouble;

beforeEach(async () => {
  slack = await SlackDouble.start({ scopes });
});
afterEach(() => slack.stop());

/** Everything Faultline does in a workspace: post, edit, read back by id and by name, answer a click. */
const exercise = async (): Promise<Set<string>> => {
  const connection = { botToken: slack.botToken, apiUrl: slack.apiUrl, log: memoryLog() };
  const client = postingClient(connection);
  const sender = createSlackSender({ client, messages, log: connection.log, fallbackChannel: null });
  const root = await sender.send(outboxRow());
  if (root.outcome !== 'sent') throw new Error(JSON.stringify(root));
  await sender.send(outboxRow({ ts: root.ts }));
  await sender.send(outboxRow({ slot: 'verdict', threadTs: root.ts }));
  await sender.find(outboxRow({ channel: '#incidents' }));
  await sender.find(outboxRow({ slot: 'verdict', threadTs: root.ts }));
  const app = createSlackApp({
    ...connection,
    appToken: slack.appToken,
    actions: await loadActions('handlers/actions'),
    forms: await loadForms('handlers/views'),
    teams: [],
    slashNames: { triage: '/triage', incident: '/incident', handoff: '/handoff', owner: '/owner' },
    command: async () => ({ lines: ['Done.'] }),
    incidentAt: async () => null,
    incidents: {
      act: async () => 'acknowledgedBefore',
      handOff: async () => null,
      silence: async () => null,
      unsilence: async () => null,
      rerun: async () => false,
    },
    messages,
    client,
    now: Date.now,
  });
  await app.start();
  await slack.click({ channel: root.channel, ts: root.ts, actionId: 'acknowledge', value: 'incident 1.0' });
  await slack.click({ channel: root.channel, ts: root.ts, actionId: 'assign', value: 'incident 1.0' });
  await slack.slash('/incident', 'list');
  await slack.mention('list', { channel: root.channel, threadTs: root.ts });
  await vi.waitFor(() => expect(slack.workspace.ephemerals).toHaveLength(2));
  await app.stop();
  return new Set(slack.workspace.calls.map((call) => call.method));
};

test('the scopes are those that the methods in use need, and no more', async () => {
  const used = await exercise();
  used.delete('apps.connections.open'); // by the app token's connections:write
  const needed = new Set([...used].flatMap((method) => scopesOf[method] ?? [`unknown method ${method}`]));
  // What Slack sends us needs scopes as well (docs.slack.dev/reference/scopes).
  const heard = ['commands', 'app_mentions:read'];
  expect([...needed, ...heard].sort()).toEqual([...scopes].sort());
});

test('the manifest keeps to the schema: names, lengths, Socket Mode without addresses', () => {
  expect(Object.keys(manifest).sort()).toEqual([
    '_metadata',
    'display_information',
    'features',
    'oauth_config',
    'settings',
  ]);
  expect([1, 2]).toContain(manifest._metadata.major_version);
  expect(manifest.display_information.name.length).toBeLessThanOrEqual(35);
  expect(manifest.display_information.description.length).toBeLessThanOrEqual(140);
  expect(manifest.features.bot_user.display_name.length).toBeLessThanOrEqual(80);
  expect(manifest.settings.socket_mode_enabled).toBe(true);
  expect(JSON.stringify(manifest)).not.toContain('request_url');
});
