import { sentinelError } from './faults.ts';
import { refuseBlocks, refuseMetadata } from './validate.ts';
import { viewProblems } from './validate-view.ts';
import { bot, type FakeChannel, type FakeMessage, type Workspace } from './workspace.ts';

export type Answer = { ok: boolean; error?: string } & Record<string, any>;
type Fields = Record<string, any>;

const refuse = (error: string, more: Record<string, unknown> = {}): Answer => ({ ok: false, error, ...more });

/** Bot scopes per method; any one of a list is enough, as for public and private channels. */
export const scopesOf: Record<string, string[]> = {
  'auth.test': [],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history'],
  'conversations.replies': ['channels:history', 'groups:history'],
  'conversations.list': ['channels:read', 'groups:read'],
  'views.open': [],
};

const writable = (workspace: Workspace, reference: unknown, allowName: boolean): FakeChannel | Answer => {
  const sentinel = sentinelError(reference);
  if (sentinel) return refuse(sentinel);
  const channel = workspace.channel(String(reference ?? ''), allowName);
  if (!channel) return refuse('channel_not_found');
  if (channel.isArchived) return refuse('is_archived');
  return channel.isMember ? channel : refuse('not_in_channel');
};

const isAnswer = (value: FakeChannel | Answer): value is Answer => 'ok' in value;

const refuseContent = (fields: Fields): Answer | null => {
  const refusal =
    (fields.blocks === undefined ? null : refuseBlocks(fields.blocks)) ??
    (fields.metadata === undefined ? null : refuseMetadata(fields.metadata));
  return refusal
    ? refuse(refusal.error, { errors: refusal.messages, response_metadata: { messages: refusal.messages } })
    : null;
};

const postMessage = (workspace: Workspace, fields: Fields): Answer => {
  const channel = writable(workspace, fields.channel, true);
  if (isAnswer(channel)) return channel;
  const problem = refuseContent(fields);
  if (problem) return problem;
  if (!fields.text && !fields.blocks?.length) return refuse('no_text');
  const text = String(fields.text ?? '');
  // Longer texts without blocks become several messages, and only the first one's ts is told.
  const pieces = fields.blocks?.length || [...text].length <= 4000 ? [text] : text.match(/[\s\S]{1,4000}/gu)!;
  const posted = pieces.map((piece) => {
    const message: FakeMessage = {
      type: 'message',
      ts: workspace.nextTs(channel),
      text: piece,
      user: bot.userId,
      bot_id: bot.botId,
      app_id: bot.appId,
      ...(fields.thread_ts ? { thread_ts: String(fields.thread_ts) } : {}),
      ...(fields.blocks?.length ? { blocks: fields.blocks } : {}),
      ...(fields.metadata ? { metadata: fields.metadata } : {}),
      edits: 0,
    };
    channel.messages.push(message);
    return message;
  });
  const [first] = posted;
  return { ok: true, channel: channel.id, ts: first!.ts, message: withoutPayload(first!) };
};

const update = (workspace: Workspace, fields: Fields): Answer => {
  const channel = writable(workspace, fields.channel, false);
  if (isAnswer(channel)) return channel;
  const message = channel.messages.find((candidate) => candidate.ts === fields.ts);
  if (!message) return refuse('message_not_found');
  if (message.bot_id !== bot.botId) return refuse('cant_update_message');
  const problem = refuseContent(fields);
  if (problem) return problem;
  if (fields.text !== undefined && [...String(fields.text)].length > 4000) return refuse('msg_too_long');
  if (fields.text === undefined && !fields.blocks?.length) return refuse('no_text');
  if (fields.text !== undefined) message.text = String(fields.text);
  // Text without blocks drops the blocks; metadata stays unless it is sent.
  if (fields.blocks?.length) message.blocks = fields.blocks;
  else delete message.blocks;
  if (fields.metadata) message.metadata = fields.metadata;
  if (fields.text !== undefined) message.edited = { user: bot.userId, ts: workspace.nextTs(channel) };
  message.edits += 1;
  return { ok: true, channel: channel.id, ts: message.ts, text: message.text };
};

const postEphemeral = (workspace: Workspace, fields: Fields): Answer => {
  const channel = writable(workspace, fields.channel, false);
  if (isAnswer(channel)) return channel;
  if (!fields.user) return refuse('user_not_in_channel');
  const threadTs = fields.thread_ts ? { threadTs: String(fields.thread_ts) } : {};
  workspace.ephemerals.push({ channel: channel.id, user: fields.user, text: String(fields.text ?? ''), ...threadTs });
  return { ok: true, message_ts: workspace.nextTs(channel) };
};

/** A trigger opens one form within three seconds. */
const openView = (workspace: Workspace, fields: Fields): Answer => {
  const refusal = workspace.useTrigger(String(fields.trigger_id ?? ''));
  if (refusal) return refuse(refusal);
  const messages = viewProblems(fields.view);
  if (messages.length > 0) return refuse('invalid_arguments', { response_metadata: { messages } });
  return { ok: true, view: workspace.openView(fields.view) };
};

const withoutPayload = (message: FakeMessage) => ({
  ...message,
  ...(message.metadata ? { metadata: { event_type: message.metadata.event_type } } : {}),
});

const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === '1';

/** Cursor paging over messages that are in the order Slack gives them. */
const page = (messages: FakeMessage[], fields: Fields, whole: boolean): Answer => {
  const limit = Math.min(Number(fields.limit ?? 100), 999);
  const start = fields.cursor ? Number(Buffer.from(fields.cursor, 'base64').toString()) : 0;
  const shown = messages.slice(start, start + limit);
  const more = start + limit < messages.length;
  return {
    ok: true,
    messages: shown.map((message) => (whole ? message : withoutPayload(message))),
    has_more: more,
    response_metadata: { next_cursor: more ? Buffer.from(String(start + limit)).toString('base64') : '' },
  };
};

const after = (oldest: unknown) => (message: FakeMessage) =>
  oldest === undefined ||
  message.ts > `${String(oldest).split('.')[0]}.${(String(oldest).split('.')[1] ?? '').padEnd(6, '0')}`;

const history = (workspace: Workspace, fields: Fields): Answer => {
  const channel = writable(workspace, fields.channel, false);
  if (isAnswer(channel)) return channel;
  const roots = workspace.roots(channel.id).filter(after(fields.oldest)).toReversed();
  return page(roots, fields, isTrue(fields.include_all_metadata));
};

const replies = (workspace: Workspace, fields: Fields): Answer => {
  const channel = writable(workspace, fields.channel, false);
  if (isAnswer(channel)) return channel;
  const parent = channel.messages.find((message) => message.ts === fields.ts);
  if (!parent) return refuse('thread_not_found');
  // The parent is always first and counts toward the limit.
  const thread = [parent, ...workspace.replies(channel.id, parent.ts).filter(after(fields.oldest))];
  return page(thread, fields, isTrue(fields.include_all_metadata));
};

const list = (workspace: Workspace): Answer => ({
  ok: true,
  channels: workspace.channels.map(({ id, name, isArchived, isMember }) => ({
    id,
    name,
    is_archived: isArchived,
    is_member: isMember,
  })),
  response_metadata: { next_cursor: '' },
});

export const methods: Record<string, (workspace: Workspace, fields: Fields) => Answer> = {
  'auth.test': () => ({
    ok: true,
    url: 'https://fake.slack.com/',
    team: 'fake',
    team_id: bot.teamId,
    user: 'faultline',
    user_id: bot.userId,
    bot_id: bot.botId,
  }),
  'chat.postMessage': postMessage,
  'chat.update': update,
  'chat.postEphemeral': postEphemeral,
  'conversations.history': history,
  'conversations.replies': replies,
  'conversations.list': list,
  'views.open': openView,
};
