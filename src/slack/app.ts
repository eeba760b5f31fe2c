import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  App,
  type BlockAction,
  type ButtonAction,
  HTTPReceiver,
  SocketModeReceiver,
  type ViewSubmitAction,
} from '@slack/bolt';
import type { WebClientOptions } from '@slack/web-api';
import { type ActionHandler, RecentTriggers } from './actions.ts';
import { type SlackConnection, slackLogger } from './client.ts';
import { type CommandOptions, listenToCommands } from './commands.ts';
import { actionListener, formListeners, type ListenerOptions } from './listeners.ts';

export interface SlackAppOptions extends SlackConnection, ListenerOptions, CommandOptions {
  /** `xapp-`: Socket Mode. Without it `signingSecret` is needed and Slack calls us over HTTP. */
  appToken?: string;
  signingSecret?: string;
  actions: ActionHandler[];
  now: () => number;
}

export interface SlackApp {
  /**
   * HTTP mode: mount at `POST /slack/events`; null in Socket Mode. It reads the body itself; a server that has read it
   * already sets `request.rawBody` to the Buffer.
   */
  requestListener: RequestListener | null;
  /** Verifies the token and, in Socket Mode, connects. Throws when Slack refuses the token or is away; may be repeated. */
  start(): Promise<void>;
  /** Takes no more clicks and waits for those under way. */
  stop(): Promise<void>;
}

// A reconnect whose retries are spent becomes an unhandled rejection, after which the process should end: a deaf bot
// is worse than a restarted one. Twenty retries outlast a short outage of Slack (about eight minutes).
const retryConfig = { retries: 20, factor: 1.5, minTimeout: 1000, maxTimeout: 30_000 };

/** Slack allows five minutes either way; Bolt itself accepts any time in the future. */
const timestampToleranceSeconds = 300;

const listenWithReplayProtection =
  (receiver: HTTPReceiver, now: () => number): RequestListener =>
  (request: IncomingMessage, response: ServerResponse) => {
    const sentAt = Number(request.headers['x-slack-request-timestamp'] ?? Number.NaN);
    if (!(sentAt <= now() / 1000 + timestampToleranceSeconds)) {
      response.writeHead(401).end();
      return;
    }
    try {
      receiver.requestListener(request, response);
    } catch {
      // The receiver throws for every path and method but its own.
      response.writeHead(404).end();
    }
  };

/** Bolt changes the options it is given and shares them between clients: each receiver and app gets its own. */
const clientOptions = (apiUrl: string | undefined): WebClientOptions => ({
  ...(apiUrl ? { slackApiUrl: apiUrl } : {}),
  retryConfig: { ...retryConfig },
  timeout: 10_000,
});

const createReceiver = (options: SlackAppOptions): HTTPReceiver | SocketModeReceiver => {
  const logger = slackLogger(options.log);
  if (options.appToken)
    return new SocketModeReceiver({
      appToken: options.appToken,
      logger,
      installerOptions: { clientOptions: clientOptions(options.apiUrl) },
    });
  if (!options.signingSecret)
    throw new Error('Slack is set up by half: set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)');
  return new HTTPReceiver({ signingSecret: options.signingSecret, endpoints: ['/slack/events'], logger });
};

/** The Slack side that listens. Posting is the sender's, over a client of its own. */
export const createSlackApp = (options: SlackAppOptions): SlackApp => {
  const receiver = createReceiver(options);
  const app = new App({
    token: options.botToken,
    receiver,
    logger: slackLogger(options.log),
    // Whoever starts the app tries again.
    clientOptions: { ...clientOptions(options.apiUrl), retryConfig: { retries: 0 } },
    // Otherwise a bad token is an unhandled rejection of the constructor, and the app runs on and drops every click.
    deferInitialization: true,
    convoStore: false,
  });
  const underWay = new Set<Promise<void>>();
  const triggers = new RecentTriggers(options.now);

  const follow = async (work: Promise<void>): Promise<void> => {
    underWay.add(work);
    await work.finally(() => underWay.delete(work));
  };

  for (const handler of options.actions) {
    const listen = actionListener(options, handler, triggers);
    app.action<BlockAction<ButtonAction>>(handler.action_id, async ({ ack, body, action }) => {
      await ack();
      await follow(listen(body, action.value));
    });
  }
  listenToCommands(app, options, follow);
  for (const handler of options.forms) {
    const form = formListeners(options, handler, triggers);
    app.action<BlockAction<ButtonAction>>(handler.callback_id, async ({ ack, body, action }) => {
      await ack();
      await follow(form.open(body, action.value));
    });
    // An answer without content closes the form.
    app.view<ViewSubmitAction>(handler.callback_id, async ({ ack, body }) => {
      await ack();
      await follow(form.submit(body));
    });
  }
  app.error(async (error) => options.log.error(`Slack listener failed: ${error.message}`));

  return {
    requestListener: receiver instanceof HTTPReceiver ? listenWithReplayProtection(receiver, options.now) : null,
    async start() {
      await app.init();
      if (receiver instanceof SocketModeReceiver) await receiver.start();
    },
    async stop() {
      // The receiver's own stop() resolves while the socket is still open; closing takes up to some 300 ms.
      if (receiver instanceof SocketModeReceiver)
        await Promise.race([receiver.client.disconnect().catch(() => {}), delay(2000, undefined, { ref: false })]);
      await Promise.allSettled(underWay);
    },
  };
};
