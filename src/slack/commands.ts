import type { AllMiddlewareArgs, App, SlackCommandMiddlewareArgs, SlackEventMiddlewareArgs } from '@slack/bolt';
import type { RichTextBlock } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Answer, Speaker } from '../commands/command.ts';
import type { SlackConnection } from './client.ts';
import { type FormHandler, formView, type TeamChoice } from './forms.ts';
import { cost, escapeMrkdwn, legible, truncate, withoutMarkup } from './legible.ts';
import { limits } from './limits.ts';
import type { Messages } from './messages.ts';

/** Our slash commands by what they are called in this workspace: Slack does not namespace them. */
export interface SlashNames {
  triage: string;
  incident: string;
  handoff: string;
  owner: string;
}

export interface CommandOptions {
  slashNames: SlashNames;
  /** Carries a command out; the answer's lines hold text from outside. */
  command(text: string, speaker: Speaker): Promise<Answer>;
  /** The incident whose thread this message begins; null: none. */
  incidentAt(channel: string, ts: string): Promise<string | null>;
  forms: FormHandler[];
  teams: TeamChoice[];
  messages: Messages;
  client: WebClient;
  log: SlackConnection['log'];
}

/** Lines as literal text, whole lines up to Slack's limit; how many are left off is said. */
export const answerBlocks = (lines: string[], messages: Messages): RichTextBlock[] => {
  const kept: string[] = [];
  let left = limits.message - 500;
  for (const line of lines) {
    const { text } = truncate(withoutMarkup(legible(line)), 1000);
    if (cost(text) + 1 > left) break;
    left -= cost(text) + 1;
    kept.push(text);
  }
  const rest = lines.length - kept.length;
  if (rest > 0) kept.push(messages.say('answer.linesMore', { count: rest }));
  const text = kept.join('\n') || messages.say('answer.nothing');
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] }];
};

const firstLine = (lines: string[]): string =>
  escapeMrkdwn(truncate(withoutMarkup(legible(lines[0] ?? '')), 200).text) || '…';

type CommandArguments = SlackCommandMiddlewareArgs & AllMiddlewareArgs;
type MentionArguments = SlackEventMiddlewareArgs<'app_mention'> & AllMiddlewareArgs;

/** `/incident ack` is the command `ack`; `/triage x` is `triage x`. */
const textOf = (names: SlashNames, command: string, text: string): string =>
  command === names.incident
    ? text
    : `${Object.entries(names).find(([, name]) => name === command)?.[0] ?? ''} ${text}`;

const slashListener =
  (options: CommandOptions) =>
  async ({ ack, command, respond }: CommandArguments) => {
    await ack();
    const { slashNames, messages, client, teams, forms, log } = options;
    const speaker = { actor: command.user_id, incidentId: null, hasForms: true };
    try {
      const { lines, form } = await options.command(textOf(slashNames, command.command, command.text), speaker);
      const handler = form && forms.find((candidate) => candidate.callback_id === form.name);
      if (form && handler) {
        const origin = { incidentId: form.incidentId, channel: command.channel_id, threadTs: null };
        const view = formView(handler, { messages, teams, actor: command.user_id }, origin);
        await client.views.open({ trigger_id: command.trigger_id, view });
        return;
      }
      await respond({ response_type: 'ephemeral', text: firstLine(lines), blocks: answerBlocks(lines, messages) });
    } catch (error) {
      log.error(`${command.command} of ${command.user_id} failed: ${(error as Error).message}`);
      await respond({ response_type: 'ephemeral', text: messages.say('feedback.failed') }).catch(() => {});
    }
  };

/** In a thread, where slash commands do not work, a mention is the command; the thread's incident is implied. */
const mentionListener =
  (options: CommandOptions) =>
  async ({ event }: MentionArguments) => {
    const { messages, client, log } = options;
    if (event.bot_id || !event.user) return;
    const threadTs = event.thread_ts ?? event.ts;
    const place = { channel: event.channel, user: event.user, thread_ts: threadTs };
    try {
      const incidentId = await options.incidentAt(event.channel, threadTs);
      const text = event.text.replace(/^\s*<@[^>]+>\s*/, '');
      const { lines } = await options.command(text, { actor: event.user, incidentId, hasForms: false });
      await client.chat.postEphemeral({ ...place, text: firstLine(lines), blocks: answerBlocks(lines, messages) });
    } catch (error) {
      log.error(`the mention by ${event.user} failed: ${(error as Error).message}`);
      await client.chat.postEphemeral({ ...place, text: messages.say('feedback.failed') }).catch(() => {});
    }
  };

/** Registers the slash commands and mentions; `follow` keeps what is under way, so that a stop can wait for it. */
export const listenToCommands = (
  app: App,
  options: CommandOptions,
  follow: (work: Promise<void>) => Promise<void>,
): void => {
  const slash = slashListener(options);
  for (const name of Object.values(options.slashNames)) app.command(name, (args) => follow(slash(args)));
  const mention = mentionListener(options);
  app.event('app_mention', (args) => follow(mention(args)));
};
