import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ActionHandler, loadActions } from '../../src/slack/actions.ts';
import { createSlackApp, type SlackApp, type SlackAppOptions } from '../../src/slack/app.ts';
import { postingClient } from '../../src/slack/client.ts';
import { type FormHandler, loadForms } from '../../src/slack/forms.ts';
import { loadMessages } from '../../src/slack/messages.ts';
import { renderThread } from '../../src/slack/render/thread.ts';
import { createSlackSender } from '../../src/slack/sender.ts';
import { memoryLog } from '../fakes/log.ts';
import { outboxRow } from '../fakes/outbox-row.ts';
import { SlackDouble, signed } from '../fakes/slack/server.ts';
import { incidentView } from '../fakes/view.ts';

const messages = loadMessages('templates/messages', 'en');
const signingSecret = 'sign-here';
let actions: ActionHandler[];
let slack: SlackDouble;
let log: ReturnType<typeof memoryLog>;
let app: SlackApp;
let forms: FormHandler[];
let card: { channel: string; ts: string };
const incidents = { act: vi.fn(), handOff: vi.fn(), silence: vi.fn(), unsilence: vi.fn(), rerun: vi.fn() };
const command = vi.fn();

beforeAll(async () => {
  actions = await loadActions('handlers/actions');
  forms = await loadForms('handlers/views');
});

const createApp = (overrides: Partial<SlackAppOptions>): SlackApp => {
  const connection = { botToken: slack.botToken, apiUrl: slack.apiUrl, log };
  const client = postingClient(connection);
  const teams = [{ id: 'media', name: 'Media' }];
  return createSlackApp({
    ...connection,
    actions,
    forms,
    teams,
    slashNames: { triage: '/triage', incident: '/incident', handoff: '/handoff', owner: '/owner' },
    command,
    incidentAt: async (channel, ts) => (channel === card.channel && ts === card.ts ? 'incident-1' : null),
    incidents,
    messages,
    client,
    now: Date.now,
    ...overrides,
  });
};

const postCard = async (): Promise<void> => {
  const [root] = renderThread(incidentView(), messages);
  const client = postingClient({ botToken: slack.botToken, apiUrl: slack.apiUrl, log });
  const result = await createSlackSender({ client, messages, log, fallbackChannel: null }).send(outboxRow(root));
  if (result.outcome !== 'sent') throw new Error(JSON.stringify(result));
  card = { channel: result.channel, ts: result.ts };
};

beforeEach(async () => {
  incidents.act.mockReset().mockResolvedValue(null);
  incidents.handOff.mockReset().mockResolvedValue(null);
  incidents.silence.mockReset().mockResolvedValue(null);
  command.mockReset().mockResolvedValue({ lines: ['Done.'] });
  incidents.rerun.mockReset().mockResolvedValue(true);
  slack = await SlackDouble.start();
  log = memoryLog();
  await postCard();
});
afterEach(async () => {
  await app.stop();
  await slack.stop();
});

describe('Socket Mode', () => {
  beforeEach(async () => {
    app = createApp({ appToken: slack.appToken });
    await app.start();
  });

  test('a click is acknowledged and calls its use case with incident and person', async () => {
    const answer = await slack.click({ ...card, actionId: 'acknowledge', user: 'U0BOB0001' });
    expect(answer.acknowledged).toBe(true);
    await vi.waitFor(() =>
      expect(incidents.act).toHaveBeenCalledWith('01JD2V7Q4Y8M3N6P9R0S1T2U3V', { action: 'acknowledge' }, 'U0BOB0001'),
    );
    expect(slack.workspace.ephemerals).toEqual([]);
    await slack.click({ ...card, actionId: 'rerun' });
    await vi.waitFor(() => expect(incidents.rerun).toHaveBeenCalledTimes(1));
  });

  test('a button with a form opens it, and its submission calls the use case', async () => {
    await slack.click({ ...card, actionId: 'wrong-owner', user: 'U0BOB0001' });
    await vi.waitFor(() => expect(slack.workspace.views).toHaveLength(1));
    const answer = await slack.submit({ to: 'media', why: 'the label is old' }, 'U0BOB0001');
    expect(answer).toMatchObject({ acknowledged: true });
    await vi.waitFor(() =>
      expect(incidents.handOff).toHaveBeenCalledExactlyOnceWith(
        '01JD2V7Q4Y8M3N6P9R0S1T2U3V',
        { to: 'media', why: 'the label is old', corrects: true },
        'U0BOB0001',
      ),
    );
    expect(slack.workspace.ephemerals).toEqual([]);
  });

  test('each form is one that Slack opens, and does its act once', async () => {
    const filled: Record<string, Record<string, string>> = {
      assign: { assignee: 'U0BOB0001' },
      'hand-off': { to: 'platform' },
      'wrong-owner': { to: 'app', why: 'x' },
      resolve: {},
      silence: { duration: '4h', breadth: 'group', silenceReason: 'the fix rolls out' },
    };
    expect(Object.keys(filled).sort()).toEqual(forms.map((form) => form.callback_id).sort());
    for (const [index, [name, values]] of Object.entries(filled).entries()) {
      await slack.click({ ...card, actionId: name });
      await vi.waitFor(() => expect(slack.workspace.views).toHaveLength(index + 1));
      await slack.submit(values);
      await slack.submit(values);
    }
    await vi.waitFor(() => expect(incidents.handOff).toHaveBeenCalledTimes(2));
    await vi.waitFor(() =>
      expect(incidents.silence.mock.calls.map(([, request]) => request)).toEqual([
        { durationMs: 4 * 3_600_000, breadth: 'group', reason: 'the fix rolls out' },
      ]),
    );
    await vi.waitFor(() =>
      expect(incidents.act.mock.calls.map(([, act]) => act)).toEqual([
        { action: 'assign', assignee: 'U0BOB0001' },
        { action: 'resolve', reason: '' },
      ]),
    );
  });

  test('a refused submission is told to the person alone', async () => {
    incidents.handOff.mockResolvedValue('ownedAlready');
    await slack.click({ ...card, actionId: 'hand-off' });
    await vi.waitFor(() => expect(slack.workspace.views).toHaveLength(1));
    await slack.submit({ to: 'app' });
    await vi.waitFor(() => expect(slack.workspace.ephemerals[0]?.text).toContain('handed to this owner already'));
    expect(slack.workspace.ephemerals[0]).toMatchObject({ channel: card.channel, user: 'U0ALICE01' });
  });

  test('a form that Slack does not open is told', async () => {
    slack.faults.add({ method: 'views.open', kind: 'error', error: 'expired_trigger_id' });
    await slack.click({ ...card, actionId: 'resolve' });
    await vi.waitFor(() => expect(slack.workspace.ephemerals[0]?.text).toContain('Please click again'));
  });

  test('slash commands are one grammar, and answered to the person alone', async () => {
    expect(await slack.slash('/incident', 'list mine', 'U0BOB0001')).toMatchObject({ acknowledged: true });
    expect(await slack.slash('/triage', 'pod/web-1 -n shop')).toMatchObject({ acknowledged: true });
    await vi.waitFor(() => expect(slack.workspace.responses).toHaveLength(2));
    expect(command.mock.calls).toEqual([
      ['list mine', { actor: 'U0BOB0001', incidentId: null, hasForms: true }],
      ['triage pod/web-1 -n shop', { actor: 'U0ALICE01', incidentId: null, hasForms: true }],
    ]);
    expect(slack.workspace.responses[0]).toMatchObject({ response_type: 'ephemeral', text: 'Done.' });
  });

  test('a command that asks for a form opens it', async () => {
    command.mockResolvedValue({ lines: [], form: { name: 'hand-off', incidentId: 'incident-9' } });
    await slack.slash('/handoff', 'platform 1a2b3c4d');
    await vi.waitFor(() => expect(slack.workspace.views).toHaveLength(1));
    await slack.submit({ to: 'platform' });
    await vi.waitFor(() => expect(incidents.handOff.mock.calls[0]?.[0]).toBe('incident-9'));
  });

  test('a mention in an incident’s thread is a command about it; its answer stays there, for the person alone', async () => {
    await slack.mention('note asked the vendor', { channel: card.channel, threadTs: card.ts, user: 'U0BOB0001' });
    await vi.waitFor(() => expect(slack.workspace.ephemerals).toHaveLength(1));
    expect(command).toHaveBeenCalledExactlyOnceWith('note asked the vendor', {
      actor: 'U0BOB0001',
      incidentId: 'incident-1',
      hasForms: false,
    });
    expect(slack.workspace.ephemerals[0]).toMatchObject({ text: 'Done.', threadTs: card.ts, user: 'U0BOB0001' });
  });

  test('text of an answer cannot mention, and a long one is cut at a line, with a count', async () => {
    command.mockResolvedValue({ lines: ['<!channel> *x*', ...Array(400).fill('y'.repeat(100))] });
    await slack.slash('/incident', 'list');
    await vi.waitFor(() => expect(slack.workspace.responses).toHaveLength(1));
    const shown = JSON.stringify(slack.workspace.responses[0]!.blocks);
    expect(shown).toContain('lines more');
    expect(shown).toContain('"type":"text"');
    expect(slack.workspace.responses[0]!.text).not.toContain('<!channel>');
  });

  test('a command that fails is logged, and the person is told', async () => {
    command.mockRejectedValue(new Error('storage is away'));
    await slack.slash('/incident', 'list');
    await slack.mention('list', { channel: card.channel, threadTs: card.ts });
    await vi.waitFor(() => expect(slack.workspace.ephemerals[0]?.text).toContain('nothing was changed'));
    await vi.waitFor(() => expect(slack.workspace.responses[0]?.text).toContain('nothing was changed'));
    expect(log.lines.filter((line) => line.message.includes('storage is away'))).toHaveLength(2);
  });

  test('a slow use case does not delay the acknowledgement, and stop waits for it', async () => {
    let finish: (done: boolean) => void = () => {};
    incidents.act.mockReturnValue(new Promise((resolve) => (finish = resolve)));
    expect((await slack.click({ ...card, actionId: 'acknowledge' })).acknowledged).toBe(true);
    await vi.waitFor(() => expect(incidents.act).toHaveBeenCalled());
    let stopped = false;
    const stopping = app.stop().then(() => {
      stopped = true;
    });
    await vi.waitFor(() => expect(slack.socketMode.connections).toBe(0));
    expect(stopped).toBe(false);
    finish(true);
    await stopping;
  });

  test('the same delivery twice is one use case', async () => {
    const click = { ...card, actionId: 'rerun', triggerId: 'same' };
    await slack.click(click);
    await slack.click(click);
    await slack.click({ ...click, triggerId: 'other' });
    await vi.waitFor(() => expect(incidents.rerun).toHaveBeenCalledTimes(2));
  });

  test('who comes second is told alone', async () => {
    incidents.act.mockResolvedValue('acknowledgedBefore');
    await slack.click({ ...card, actionId: 'acknowledge', user: 'U0LATE001' });
    await vi.waitFor(() => expect(slack.workspace.ephemerals).toHaveLength(1));
    expect(slack.workspace.ephemerals[0]).toMatchObject({
      user: 'U0LATE001',
      channel: card.channel,
      text: expect.stringContaining('Somebody else was first'),
    });
  });

  test('a use case that fails is logged, and the person is told', async () => {
    incidents.rerun.mockRejectedValue(new Error('storage is away'));
    await slack.click({ ...card, actionId: 'rerun' });
    await vi.waitFor(() => expect(slack.workspace.ephemerals[0]?.text).toContain('nothing was changed'));
    expect(log.lines.map((line) => line.message).join()).toContain('storage is away');
  });

  test('a click on an old card is as good as one on the new card; a foreign value does nothing', async () => {
    await slack.click({ ...card, actionId: 'acknowledge', value: '01JD2V7Q4Y8M3N6P9R0S1T2U3V 0.0' });
    await vi.waitFor(() => expect(incidents.act).toHaveBeenCalledTimes(1));
    for (const value of ['', 'x', 'a b c', '\u0000 1.0 2']) {
      expect((await slack.click({ ...card, actionId: 'acknowledge', value: value || ' ' })).acknowledged).toBe(true);
    }
    expect(incidents.act).toHaveBeenCalledTimes(1);
  });

  test('the token was verified once, not at every click', async () => {
    await slack.click({ ...card, actionId: 'acknowledge' });
    await vi.waitFor(() => expect(incidents.act).toHaveBeenCalled());
    expect(slack.count('auth.test')).toBe(1);
  });

  test('connections are opened with the app token, everything else with the bot token', () => {
    const tokens = new Map(slack.workspace.calls.map((call) => [call.method, call.token]));
    expect(tokens.get('apps.connections.open')).toBe(slack.appToken);
    expect(tokens.get('auth.test')).toBe(slack.botToken);
  });

  test('it reconnects when Slack asks for it, over one failed attempt', async () => {
    const [socketsBefore, opened] = [slack.socketMode.connections, slack.count('apps.connections.open')];
    slack.faults.add({ method: 'apps.connections.open', kind: 'status', status: 503 });
    slack.socketMode.refresh();
    await vi.waitFor(() => expect(slack.count('apps.connections.open')).toBe(opened + 2), { timeout: 15_000 });
    await vi.waitFor(() => expect(slack.socketMode.connections).toBe(socketsBefore), { timeout: 5_000 });
    expect((await slack.click({ ...card, actionId: 'acknowledge' })).acknowledged).toBe(true);
  });
});

describe('HTTP', () => {
  let server: Server;
  let url: string;

  beforeEach(async () => {
    app = createApp({ signingSecret });
    await app.start();
    server = createServer(app.requestListener!);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const click = (signing: { secret?: string; timestamp?: number } = {}) =>
    slack.clickOverHttp(url, { ...card, actionId: 'acknowledge' }, { secret: signingSecret, ...signing });
  const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;

  test('a signed click calls its use case', async () => {
    expect((await click()).status).toBe(200);
    await vi.waitFor(() =>
      expect(incidents.act).toHaveBeenCalledWith('01JD2V7Q4Y8M3N6P9R0S1T2U3V', { action: 'acknowledge' }, 'U0ALICE01'),
    );
  });

  test.each([
    ['a wrong signature', { secret: 'wrong' }],
    ['a time six minutes ago', { timestamp: seconds(-360) }],
    ['a time in the future', { timestamp: seconds(360) }],
    ['a time tomorrow', { timestamp: seconds(86_400) }],
    ['a time that is none', { timestamp: Number.NaN }],
  ])('%s is refused', async (_, signing) => {
    expect((await click(signing)).status).toBe(401);
    expect(incidents.act).not.toHaveBeenCalled();
  });

  test('a replayed request changes nothing', async () => {
    const body = new URLSearchParams({
      payload: JSON.stringify(slack.clickPayload({ ...card, actionId: 'rerun' })),
    }).toString();
    const request = { method: 'POST', headers: signed(body, { secret: signingSecret }), body };
    expect((await fetch(url, request)).status).toBe(200);
    expect((await fetch(url, request)).status).toBe(200);
    await vi.waitFor(() => expect(incidents.rerun).toHaveBeenCalledTimes(1));
  });

  test('a server that has read the body already passes it on as rawBody', async () => {
    server.removeAllListeners('request').on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      app.requestListener!(Object.assign(request, { rawBody: Buffer.concat(chunks) }), response);
    });
    expect((await click()).status).toBe(200);
    expect((await click({ secret: 'wrong' })).status).toBe(401);
    await vi.waitFor(() => expect(incidents.act).toHaveBeenCalledTimes(1));
  });

  test('other paths and methods are not found', async () => {
    const headers = signed('', { secret: signingSecret });
    expect((await fetch(url.replace('/events', '/else'), { method: 'POST', headers })).status).toBe(404);
    expect((await fetch(url, { headers })).status).toBe(404);
  });
});

describe('setting up', () => {
  afterEach(() => vi.restoreAllMocks());

  test('a token that Slack refuses makes start throw', async () => {
    app = createApp({ appToken: slack.appToken, botToken: 'xoxb-wrong' });
    await expect(app.start()).rejects.toThrow('invalid_auth');
  });

  test('an app token that Slack refuses makes start throw', async () => {
    app = createApp({ appToken: 'xapp-wrong' });
    await expect(app.start()).rejects.toThrow('invalid_auth');
  });

  test('neither app token nor signing secret names both settings', () => {
    app = createApp({ appToken: slack.appToken });
    expect(() => createApp({})).toThrow(/SLACK_APP_TOKEN.*SLACK_SIGNING_SECRET/);
  });
});
