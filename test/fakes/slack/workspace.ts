import { createHash } from 'node:crypto';

export interface FakeMessage {
  type: 'message';
  ts: string;
  text: string;
  user: string;
  bot_id: string;
  app_id: string;
  thread_ts?: string;
  blocks?: any[];
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
  edited?: { user: string; ts: string };
  /** How often chat.update changed it: not a field of Slack's. */
  edits: number;
}

export interface FakeChannel {
  id: string;
  name: string;
  isArchived: boolean;
  isMember: boolean;
  messages: FakeMessage[];
}

export interface Ephemeral {
  channel: string;
  user: string;
  text: string;
  threadTs?: string;
}

/** One call as it arrived: form fields, JSON fields decoded. */
export interface FakeCall {
  method: string;
  token: string;
  fields: Record<string, any>;
}

export const bot = { userId: 'U0FAULTLINE', botId: 'B0FAULTLINE', appId: 'A0FAULTLINE', teamId: 'T0FAKE' } as const;

/** A modal that a person has before them. */
export interface FakeView {
  id: string;
  callback_id: string;
  private_metadata: string;
  blocks: any[];
}

/** Slack gives an app three seconds (docs.slack.dev/reference/methods/views.open). */
const triggerMs = 3000;

/** The state behind the double. Channels exist once they are named, unless `channels` lists them. */
export class Workspace {
  readonly calls: FakeCall[] = [];
  readonly ephemerals: Ephemeral[] = [];
  readonly views: FakeView[] = [];
  /** What was answered to a response_url. */
  readonly responses: Record<string, any>[] = [];
  readonly #triggers = new Map<string, { at: number; used: boolean }>();
  readonly #channels = new Map<string, FakeChannel>();
  readonly #open: boolean;
  readonly #now: () => number;

  constructor(options: { channels?: string[]; now?: () => number } = {}) {
    this.#open = options.channels === undefined;
    this.#now = options.now ?? Date.now;
    for (const name of options.channels ?? []) this.#create(name);
  }

  #create(reference: string): FakeChannel {
    const isId = /^[CGD][A-Z0-9]{6,}$/.test(reference);
    const name = reference.replace(/^#/, '').toLowerCase();
    const id = isId ? reference : `C${createHash('sha1').update(name).digest('hex').slice(0, 9).toUpperCase()}`;
    const channel = { id, name, isArchived: false, isMember: true, messages: [] };
    this.#channels.set(id, channel);
    return channel;
  }

  /** A trigger as a click hands it out. */
  newTrigger(id: string): string {
    if (!this.#triggers.has(id)) this.#triggers.set(id, { at: this.#now(), used: false });
    return id;
  }

  /** The error that Slack answers; null where the trigger is good. */
  useTrigger(id: string): string | null {
    const trigger = this.#triggers.get(id);
    if (!trigger) return 'invalid_trigger_id';
    if (this.#now() - trigger.at > triggerMs) return 'expired_trigger_id';
    if (trigger.used) return 'exchanged_trigger_id';
    trigger.used = true;
    return null;
  }

  openView(view: Omit<FakeView, 'id'>): FakeView {
    const opened = { ...view, id: `V${this.views.length + 1}` };
    this.views.push(opened);
    return opened;
  }

  /** By id; by name as well where Slack takes one (`allowName`). */
  channel(reference: string, allowName = false): FakeChannel | undefined {
    const isId = /^[CGD][A-Z0-9]{6,}$/.test(reference);
    const known = isId
      ? this.#channels.get(reference)
      : allowName &&
        [...this.#channels.values()].find((channel) => channel.name === reference.replace(/^#/, '').toLowerCase());
    if (known) return known;
    return this.#open && reference && (isId || allowName) ? this.#create(reference) : undefined;
  }

  get channels(): FakeChannel[] {
    return [...this.#channels.values()];
  }

  /** Unique and growing within a channel, as Slack's; the same value may exist in another channel. */
  nextTs(channel: FakeChannel): string {
    const last = channel.messages.at(-1)?.ts;
    const wanted = `${Math.floor(this.#now() / 1000)}.000100`;
    if (!last || wanted > last) return wanted;
    const [seconds = '', fraction = ''] = last.split('.');
    return `${seconds}.${String(Number(fraction) + 100).padStart(6, '0')}`;
  }

  /** Root messages of a channel, oldest first. */
  roots(reference: string): FakeMessage[] {
    return (this.channel(reference, true)?.messages ?? []).filter(
      (message) => !message.thread_ts || message.thread_ts === message.ts,
    );
  }

  /** A thread's replies, oldest first. */
  replies(reference: string, rootTs: string): FakeMessage[] {
    return (this.channel(reference, true)?.messages ?? []).filter(
      (message) => message.thread_ts === rootTs && message.ts !== rootTs,
    );
  }

  remove(reference: string, ts: string): void {
    const channel = this.channel(reference, true);
    if (channel) channel.messages = channel.messages.filter((message) => message.ts !== ts);
  }
}
