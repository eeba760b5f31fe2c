import type { ConversationsListResponse, WebClient } from '@slack/web-api';
import type { OutboxRow, SendResult } from '../domain/message.ts';
import type { Sender } from '../incidents/ports.ts';
import type { Log } from './client.ts';
import { backoffMs, classify, type Failure } from './errors.ts';
import type { Messages } from './messages.ts';
import { asPlainText } from './plain-text.ts';

export interface SlackSenderOptions {
  /** Of `postingClient`: one that neither retries nor waits. */
  client: WebClient;
  messages: Messages;
  log: Log;
  /** Where a root goes whose own channel refuses it; null: the row waits for an operator. */
  fallbackChannel: string | null;
}

interface Content {
  text: string;
  blocks?: any[];
}

const metadataEvent = 'faultline_message';

/** A message's identity across restarts: one per incident and slot. */
const keyOf = (row: OutboxRow): string => `${row.incidentId}/${row.slot}`;

// Visible to every app of the workspace; flat strings and numbers only, well below Slack's undocumented size limit.
const metadataOf = (row: OutboxRow) => ({
  event_type: metadataEvent,
  event_payload: { incident_id: row.incidentId, slot: row.slot, key: keyOf(row), revision: row.revision },
});

/** Clocks differ, and the time of the attempt is ours while `oldest` is Slack's. */
const clockSkewSeconds = 60;
const channelIdForm = /^[CGD][A-Z0-9]{6,}$/;
const pageSize = 200;
const pagesAtMost = 20;

export const createSlackSender = ({ client, messages, log, fallbackChannel }: SlackSenderOptions): Sender => {
  let botId: string | undefined;

  const ownBotId = async (): Promise<string> => {
    botId ??= (await client.auth.test()).bot_id;
    if (!botId) throw new Error('auth.test names no bot: set SLACK_BOT_TOKEN to a bot token (xoxb-)');
    return botId;
  };

  /** Posting takes `#name`, reading back takes ids only; null: no channel of that name that the app can see. */
  const channelId = async (channel: string): Promise<string | null> => {
    if (channelIdForm.test(channel)) return channel;
    const name = channel.replace(/^#/, '');
    const options = { types: 'public_channel,private_channel', exclude_archived: true, limit: 1000 };
    for await (const page of client.paginate('conversations.list', options)) {
      const match = (page as ConversationsListResponse).channels?.find((candidate) => candidate.name === name);
      if (match?.id) return match.id;
    }
    return null;
  };

  const post = async (row: OutboxRow, channel: string, content: Content): Promise<SendResult> => {
    const answer = await client.chat.postMessage({
      channel,
      ...content,
      ...(row.threadTs ? { thread_ts: row.threadTs } : {}),
      metadata: metadataOf(row),
      unfurl_links: false,
      unfurl_media: false,
    } as Parameters<WebClient['chat']['postMessage']>[0]);
    return { outcome: 'sent', channel: answer.channel!, ts: answer.ts! };
  };

  const update = async (row: OutboxRow, ts: string, content: Content): Promise<SendResult> => {
    const answer = await client.chat.update({
      channel: row.channel,
      ts,
      ...content,
      metadata: metadataOf(row),
    } as Parameters<WebClient['chat']['update']>[0]);
    return { outcome: 'sent', channel: answer.channel!, ts: answer.ts! };
  };

  /** The final word on a failure that no other attempt can mend. An edit may be repeated; a post may not. */
  const settled = (row: OutboxRow, failure: Failure, posting: boolean): SendResult => {
    const { reason } = failure;
    switch (failure.kind) {
      case 'retry':
        return { outcome: 'retry', afterMs: failure.afterMs, reason };
      case 'uncertain':
        return posting
          ? { outcome: 'uncertain', reason }
          : { outcome: 'retry', afterMs: backoffMs(row.attempts), reason };
      case 'operator':
        return { outcome: 'operator', reason, fix: failure.fix };
      case 'channel':
        return {
          outcome: 'operator',
          reason: `${reason} (channel ${row.channel})`,
          fix: `invite the app into ${row.channel}, or correct the channel in the configuration`,
        };
      default:
        return { outcome: 'permanent', reason };
    }
  };

  const attempt = async (row: OutboxRow, ts: string | null, channel: string, content: Content): Promise<SendResult> => {
    try {
      return ts ? await update({ ...row, channel }, ts, content) : await post(row, channel, content);
    } catch (error) {
      const failure = classify(error, row.attempts);
      if (failure.kind === 'shrink' && content.blocks) {
        log.error(`Slack refused the blocks of ${keyOf(row)}, sent as plain text: ${failure.reason}`);
        return attempt(row, ts, channel, { text: asPlainText(row, messages.say('more.refused')) });
      }
      if (failure.kind === 'recreate' && ts) return attempt(row, null, channel, content);
      const isRoot = !row.threadTs && !ts;
      if (failure.kind === 'channel' && isRoot && fallbackChannel && channel !== fallbackChannel) {
        log.error(`Slack refused channel ${channel} for ${keyOf(row)}, sent to ${fallbackChannel}: ${failure.reason}`);
        return attempt(row, null, fallbackChannel, content);
      }
      return settled({ ...row, channel }, failure, ts === null);
    }
  };

  /** Newest first for a channel, oldest first for a thread; both end at the page that has no cursor. */
  const readBack = async function* (row: OutboxRow, channel: string, oldest: string): AsyncGenerator<any> {
    let cursor: string | undefined;
    for (let page = 0; page < pagesAtMost; page += 1) {
      const options = { channel, oldest, limit: pageSize, include_all_metadata: true, ...(cursor ? { cursor } : {}) };
      const answer = row.threadTs
        ? await client.conversations.replies({ ...options, ts: row.threadTs })
        : await client.conversations.history(options);
      yield* answer.messages ?? [];
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (!cursor) return;
    }
    throw new Error(`${channel} holds more than ${pagesAtMost * pageSize} messages since the attempt; not settled`);
  };

  const findIn = async (row: OutboxRow, channel: string, since: string) => {
    const bot = await ownBotId();
    const oldest = String(Math.floor(Date.parse(since) / 1000) - clockSkewSeconds);
    const found: { channel: string; ts: string; revision: number }[] = [];
    for await (const message of readBack(row, channel, oldest)) {
      const payload = message.metadata?.event_type === metadataEvent ? message.metadata.event_payload : undefined;
      if (message.bot_id === bot && payload?.key === keyOf(row))
        found.push({ channel, ts: message.ts, revision: Number(payload.revision) });
    }
    // The newest: a message posted again replaces one that can no longer be edited. Slack's ts are strings of one length.
    return found.sort((a, b) => (a.ts < b.ts ? -1 : 1)).at(-1) ?? null;
  };

  return {
    send: (row) => attempt(row, row.ts, row.channel, { text: row.text, blocks: row.blocks }),
    async find(row) {
      const since = row.uncertainSince ?? row.attemptedAt;
      if (!since) return null;
      const channels = new Set([row.channel, ...(row.threadTs || !fallbackChannel ? [] : [fallbackChannel])]);
      const failures: unknown[] = [];
      for (const channel of channels) {
        try {
          const id = await channelId(channel);
          const found = id ? await findIn(row, id, since) : null;
          if (found) return found;
        } catch (error) {
          // A channel we are not a member of holds no message of ours: without chat:write.public only members post.
          if (classify(error, 0).kind !== 'channel') failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return null;
    },
  };
};
