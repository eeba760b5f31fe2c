import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Faults } from './faults.ts';
import { type Answer, methods, scopesOf } from './methods.ts';
import { type ActionAnswer, SocketMode } from './socket-mode.ts';
import { refuseBlocks } from './validate.ts';
import { bot, type FakeView, Workspace } from './workspace.ts';

export interface SlackDoubleOptions {
  port?: number;
  /** Channels by id or #name; absent: every channel exists. */
  channels?: string[];
  /** Scopes of the bot token; absent: all. */
  scopes?: string[];
  botToken?: string;
  appToken?: string;
  now?: () => number;
}

export interface Click {
  channel: string;
  ts: string;
  actionId: string;
  user?: string;
  /** As an old card would send it; the shown button's own value when absent. */
  value?: string;
  triggerId?: string;
}

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** Form fields; those that Slack documents as JSON are decoded. A broken one is `invalid_arguments` there. */
const decode = (body: string): Record<string, any> => {
  const fields: Record<string, any> = Object.fromEntries(new URLSearchParams(body));
  for (const name of ['blocks', 'metadata', 'attachments', 'view'])
    if (name in fields) fields[name] = JSON.parse(fields[name]);
  return fields;
};

const headerValue = (text: string): string => text.replace(/^Bearer /, '');

/** A Slack workspace with one installed app, over the real wire protocols: form-encoded Web API, Socket Mode, HTTP. */
export class SlackDouble {
  readonly workspace: Workspace;
  readonly faults = new Faults();
  readonly botToken: string;
  readonly appToken: string;
  readonly #scopes: string[] | undefined;
  readonly #server: Server;
  readonly #socketMode: SocketMode;
  readonly #sockets = new Set<Socket>();

  private constructor(options: SlackDoubleOptions) {
    this.workspace = new Workspace(options);
    this.botToken = options.botToken ?? 'xoxb-fake-bot';
    this.appToken = options.appToken ?? 'xapp-fake-app';
    this.#scopes = options.scopes;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error) => response.destroy(error as Error));
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#socketMode = new SocketMode(this.#server);
  }

  static async start(options: SlackDoubleOptions = {}): Promise<SlackDouble> {
    const double = new SlackDouble(options);
    await new Promise<void>((resolve, reject) => {
      double.#server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return double;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** For SLACK_API_URL. */
  get apiUrl(): string {
    return `http://127.0.0.1:${this.port}/api/`;
  }

  get socketMode(): SocketMode {
    return this.#socketMode;
  }

  async stop(): Promise<void> {
    this.#socketMode.close();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** How many calls of a method arrived. */
  count(method: string): number {
    return this.workspace.calls.filter((call) => call.method === method).length;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://slack');
    const body = await read(request);
    if (pathname.startsWith('/response/')) {
      const answered = JSON.parse(body) as Record<string, any>;
      const refusal = answered.blocks === undefined ? null : refuseBlocks(answered.blocks);
      if (!refusal) this.workspace.responses.push(answered);
      return this.#json(response, refusal ? { ok: false, error: refusal.error } : { ok: true });
    }
    if (pathname.startsWith('/control/')) return this.#control(pathname.slice('/control/'.length), body, response);
    if (!pathname.startsWith('/api/')) return void response.writeHead(404).end();
    const method = pathname.slice('/api/'.length);
    if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
      return this.#json(response, { ok: false, error: 'invalid_form_data' });
    const fields = decode(body);
    const token = headerValue(request.headers.authorization ?? `Bearer ${fields.token ?? ''}`);
    this.workspace.calls.push({ method, token, fields });
    return this.#respond(method, token, fields, response);
  }

  #respond(method: string, token: string, fields: Record<string, any>, response: ServerResponse): void {
    const fault = this.faults.take(method);
    switch (fault?.kind) {
      case 'rate-limit': {
        const after = fault.retryAfterSeconds === undefined ? 1 : fault.retryAfterSeconds;
        return void response.writeHead(429, after === null ? {} : { 'retry-after': String(after) }).end();
      }
      case 'error':
        this.#json(response, { ok: false, error: fault.error ?? 'fatal_error', ...fault.body });
        return;
      case 'status':
        return void response.writeHead(fault.status ?? 503).end('no');
      case 'reset':
        return void response.socket?.destroy();
      case 'hang':
        return;
      case 'lost':
        this.#call(method, token, fields);
        return void response.socket?.destroy();
      case 'status-after-commit':
        this.#call(method, token, fields);
        return void response.writeHead(fault.status ?? 500).end('no');
      default:
        this.#json(response, this.#call(method, token, fields));
    }
  }

  #call(method: string, token: string, fields: Record<string, any>): Answer {
    if (method === 'apps.connections.open')
      return token === this.appToken
        ? { ok: true, url: `ws://127.0.0.1:${this.port}/link?ticket=${randomUUID()}` }
        : { ok: false, error: token.startsWith('xoxb') ? 'not_allowed_token_type' : 'invalid_auth' };
    if (!token) return { ok: false, error: 'not_authed' };
    if (token !== this.botToken) return { ok: false, error: 'invalid_auth' };
    const implementation = methods[method];
    if (!implementation) return { ok: false, error: 'unknown_method' };
    const needed = scopesOf[method] ?? [];
    if (this.#scopes && needed.length > 0 && !needed.some((scope) => this.#scopes?.includes(scope)))
      return { ok: false, error: 'missing_scope', needed: needed[0], provided: this.#scopes.join(',') };
    return implementation(this.workspace, fields);
  }

  #json(response: ServerResponse, answer: unknown): void {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer));
  }

  /** For tests in another process: state, faults, clicks and reset. */
  async #control(what: string, body: string, response: ServerResponse): Promise<void> {
    const answer = await this.#controlled(what, body);
    if (answer) this.#json(response, answer);
    else response.writeHead(404).end();
  }

  async #controlled(what: string, body: string): Promise<object | null> {
    switch (what) {
      case 'state': {
        const { channels, ephemerals, calls } = this.workspace;
        return { channels, ephemerals, calls, connections: this.#socketMode.connections };
      }
      case 'faults':
        this.faults.add(JSON.parse(body));
        return { ok: true };
      case 'clear-faults':
        this.faults.clear();
        return { ok: true };
      case 'click':
        return this.click(JSON.parse(body));
      case 'submit': {
        const { values, user } = JSON.parse(body) as { values: Record<string, string>; user?: string };
        return this.submit(values, user);
      }
      default:
        return null;
    }
  }

  /** The body a person's click on a shown button sends. Throws when the message has no such button. */
  clickPayload(click: Click): Record<string, unknown> {
    const channel = this.workspace.channel(click.channel, true);
    const message = channel?.messages.find((candidate) => candidate.ts === click.ts);
    const button = message?.blocks
      ?.flatMap((block) => (block.type === 'actions' ? block.elements : []))
      .find((element) => element.action_id === click.actionId);
    if (!channel || !message || !(button || click.value)) throw new Error(`No button ${click.actionId} on ${click.ts}`);
    const value = click.value ?? button.value;
    return {
      type: 'block_actions',
      user: { id: click.user ?? 'U0ALICE01', username: 'alice', team_id: bot.teamId },
      api_app_id: bot.appId,
      token: 'deprecated',
      container: { type: 'message', message_ts: message.ts, channel_id: channel.id, is_ephemeral: false },
      trigger_id: this.workspace.newTrigger(click.triggerId ?? randomUUID()),
      team: { id: bot.teamId, domain: 'fake' },
      channel: { id: channel.id, name: channel.name },
      message,
      response_url: `http://127.0.0.1:${this.port}/response/${randomUUID()}`,
      actions: [
        { type: 'button', action_id: click.actionId, block_id: 'b1', value, text: button?.text, action_ts: message.ts },
      ],
    };
  }

  /** A click over one of the open sockets; resolves with the app's acknowledgement. */
  click(click: Click): Promise<ActionAnswer> {
    return this.#socketMode.deliver('interactive', this.clickPayload(click));
  }

  /** Fills in the newest form a person was shown and submits it; `values` by the names of its fields. */
  submit(
    values: Record<string, string>,
    user = 'U0ALICE01',
    view = this.workspace.views.at(-1),
  ): Promise<ActionAnswer> {
    if (!view) throw new Error('No form is open');
    return this.#socketMode.deliver('interactive', {
      type: 'view_submission',
      user: { id: user, username: 'alice', team_id: bot.teamId },
      api_app_id: bot.appId,
      team: { id: bot.teamId, domain: 'fake' },
      trigger_id: randomUUID(),
      view: { ...view, type: 'modal', state: { values: stateOf(view, values) } },
    });
  }

  /** A slash command as a person types it: in no thread, since Slack allows none there. */
  slash(command: string, text: string, user = 'U0ALICE01', channel = '#incidents'): Promise<ActionAnswer> {
    return this.#socketMode.deliver('slash_commands', {
      command,
      text,
      user_id: user,
      user_name: 'alice',
      team_id: bot.teamId,
      api_app_id: bot.appId,
      channel_id: this.workspace.channel(channel, true)!.id,
      trigger_id: this.workspace.newTrigger(randomUUID()),
      response_url: `http://127.0.0.1:${this.port}/response/${randomUUID()}`,
    });
  }

  /** A message that mentions the bot, in a thread where `threadTs` is given. */
  mention(text: string, place: { channel: string; threadTs?: string; user?: string }): Promise<ActionAnswer> {
    const channel = this.workspace.channel(place.channel, true)!;
    const ts = this.workspace.nextTs(channel);
    return this.#socketMode.deliver('events_api', {
      type: 'event_callback',
      event_id: `Ev${randomUUID()}`,
      team_id: bot.teamId,
      api_app_id: bot.appId,
      authorizations: [{ team_id: bot.teamId, user_id: bot.userId, is_bot: true }],
      event: {
        type: 'app_mention',
        user: place.user ?? 'U0ALICE01',
        text: `<@${bot.userId}> ${text}`,
        ts,
        channel: channel.id,
        event_ts: ts,
        ...(place.threadTs ? { thread_ts: place.threadTs } : {}),
      },
    });
  }

  /** A click over HTTP, signed as Slack signs it. */
  async clickOverHttp(url: string, click: Click, signing: { secret: string; timestamp?: number }): Promise<Response> {
    const body = new URLSearchParams({ payload: JSON.stringify(this.clickPayload(click)) }).toString();
    return fetch(url, { method: 'POST', headers: signed(body, signing), body });
  }
}

/** The values as Slack sends them. Throws where a field that must be filled is left empty, or has no such choice. */
const stateOf = (view: FakeView, values: Record<string, string>): Record<string, Record<string, any>> =>
  Object.fromEntries(
    view.blocks.map(({ block_id, optional, element }) => {
      const value = values[block_id] ?? null;
      if (value === null && !optional && !element.initial_user) throw new Error(`${block_id} has to be filled in`);
      return [block_id, { [element.action_id]: { type: element.type, ...entered(element, value) } }];
    }),
  );

const entered = (element: any, value: string | null): object => {
  if (element.type === 'users_select') return { selected_user: value ?? element.initial_user };
  if (element.type === 'plain_text_input') return { value };
  const option = element.options.find((candidate: any) => candidate.value === value);
  if (value !== null && !option) throw new Error(`${value} is no choice of ${element.action_id}`);
  return { selected_option: option ?? null };
};

/** Headers of a request signed by Slack (v0). */
export const signed = (body: string, signing: { secret: string; timestamp?: number }): Record<string, string> => {
  const timestamp = String(signing.timestamp ?? Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', signing.secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  };
};
