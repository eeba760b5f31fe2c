import type { BlockAction, ViewSubmitAction } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { type ActionHandler, type IncidentActions, incidentOf, type RecentTriggers } from './actions.ts';
import type { SlackConnection } from './client.ts';
import { type FormHandler, formView, originOf, type TeamChoice, valuesOf } from './forms.ts';
import type { Messages } from './messages.ts';

export interface ListenerOptions {
  incidents: IncidentActions;
  messages: Messages;
  /** Of `postingClient`, for what only the clicking person sees. */
  client: WebClient;
  /** Teams of the owner directory, for the forms. */
  teams: TeamChoice[];
  log: SlackConnection['log'];
}

interface Place {
  channel: string;
  threadTs: string | null;
}

const placeOf = (body: BlockAction): Place => ({
  channel: String(body.container.channel_id ?? body.channel?.id ?? ''),
  threadTs: (body.container.thread_ts as string | undefined) ?? null,
});

/** Does the work of a person's act and tells that person alone where it was in vain. */
const attempt = async (
  { messages, client, log }: ListenerOptions,
  what: string,
  actor: string,
  { channel, threadTs }: Place,
  work: () => Promise<string | null>,
): Promise<void> => {
  let feedback: string | null;
  try {
    feedback = await work();
  } catch (error) {
    log.error(`${what} failed: ${(error as Error).message}`);
    feedback = 'feedback.failed';
  }
  if (!feedback) return;
  try {
    await client.chat.postEphemeral({
      channel,
      user: actor,
      text: messages.say(feedback),
      ...(threadTs ? { thread_ts: threadTs } : {}),
    });
  } catch (error) {
    log.warn(`${what}: the answer to ${actor} was not delivered: ${(error as Error).message}`);
  }
};

/** The listener of one button: one use case, then a word to the person if it was in vain. */
export const actionListener =
  (options: ListenerOptions, handler: ActionHandler, triggers: RecentTriggers) =>
  async (body: BlockAction, value: unknown): Promise<void> => {
    const { incidents, log } = options;
    const incidentId = incidentOf(value);
    if (!incidentId) return log.warn(`${handler.action_id}: a button without an incident was clicked`);
    if (!triggers.isNew(body.trigger_id)) return;
    const what = `${handler.action_id} of incident ${incidentId} by ${body.user.id}`;
    log.info(what);
    await attempt(options, what, body.user.id, placeOf(body), () =>
      handler.handle(incidents, { incidentId, actor: body.user.id }),
    );
  };

/** The listeners of one form: its button opens it, its submission calls the use case. */
export const formListeners = (options: ListenerOptions, handler: FormHandler, triggers: RecentTriggers) => ({
  /** A trigger is good for three seconds and one form, so nothing is read before. */
  async open(body: BlockAction, value: unknown): Promise<void> {
    const { messages, client, log, teams } = options;
    const incidentId = incidentOf(value);
    if (!incidentId) return log.warn(`${handler.callback_id}: a button without an incident was clicked`);
    if (!triggers.isNew(body.trigger_id)) return;
    const place = placeOf(body);
    const what = `the form ${handler.callback_id} of incident ${incidentId} for ${body.user.id}`;
    const view = formView(handler, { messages, teams, actor: body.user.id }, { incidentId, ...place });
    await attempt(options, what, body.user.id, place, async () => {
      try {
        await client.views.open({ trigger_id: body.trigger_id, view });
        return null;
      } catch (error) {
        log.warn(`${what} was not opened: ${(error as Error).message}`);
        return 'feedback.formNotOpened';
      }
    });
  },

  async submit({ view, user }: ViewSubmitAction): Promise<void> {
    const { incidents, log } = options;
    const origin = originOf(view.private_metadata);
    if (!origin) return log.warn(`${handler.callback_id}: a form without an incident was submitted`);
    if (!triggers.isNew(view.id)) return;
    const what = `${handler.callback_id} of incident ${origin.incidentId} by ${user.id}`;
    log.info(what);
    await attempt(options, what, user.id, origin, () =>
      handler.submit(incidents, {
        incidentId: origin.incidentId,
        actor: user.id,
        values: valuesOf(view.state.values),
      }),
    );
  },
});
