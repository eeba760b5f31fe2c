import type { InputBlock, ModalView, PlainTextOption } from '@slack/types';
import { loadHandlers } from '../commands/load-handlers.ts';
import type { IncidentActions } from './actions.ts';
import { truncate } from './legible.ts';
import type { Messages } from './messages.ts';

/** A team of the owner directory, as a form offers it. */
export interface TeamChoice {
  id: string;
  name: string;
}

/** What a form can say and offer. */
export interface FormContext {
  messages: Messages;
  teams: TeamChoice[];
  /** Slack user id of who opens it. */
  actor: string;
}

/** What a person entered: by the names of the form's fields. */
export interface Submission {
  incidentId: string;
  /** Slack user id. */
  actor: string;
  values: Record<string, string>;
}

/**
 * One file of handlers/views: a form of the same name as the button that opens it. Its words are the messages
 * `form.‹name›.title` and `form.‹name›.submit`.
 */
export interface FormHandler {
  callback_id: string;
  fields(context: FormContext): InputBlock[];
  /** The key of the message to show to the person alone, or null when the card says it all. */
  submit(incidents: IncidentActions, submission: Submission): Promise<string | null>;
}

export const loadForms = (folder: string): Promise<FormHandler[]> => loadHandlers<FormHandler>(folder, 'callback_id');

/** Where the form was opened: kept in it, since a submission does not say. */
export interface FormOrigin {
  incidentId: string;
  channel: string;
  threadTs: string | null;
}

/** Titles and buttons of a modal hold 24 characters, options 75 (docs.slack.dev/reference/views). */
const limits = { title: 24, option: 75, options: 100 } as const;

const words = (text: string, limit: number) => ({
  type: 'plain_text' as const,
  text: truncate(text, limit).text,
  emoji: false,
});

export const formView = (handler: FormHandler, context: FormContext, origin: FormOrigin): ModalView => {
  const { messages } = context;
  const name = handler.callback_id;
  return {
    type: 'modal',
    callback_id: name,
    private_metadata: JSON.stringify(origin),
    title: words(messages.say(`form.${name}.title`), limits.title),
    submit: words(messages.say(`form.${name}.submit`), limits.title),
    close: words(messages.say('form.cancel'), limits.title),
    blocks: handler.fields(context),
  };
};

/** The origin that `formView` wrote; null for anything else. */
export const originOf = (privateMetadata: string): FormOrigin | null => {
  try {
    const { incidentId, channel, threadTs } = JSON.parse(privateMetadata) as FormOrigin;
    return typeof incidentId === 'string' && typeof channel === 'string' ? { incidentId, channel, threadTs } : null;
  } catch {
    return null;
  }
};

/** The values of a submitted form: each field's block and action bear its name. */
export const valuesOf = (state: Record<string, Record<string, any>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(state).map(([name, fields]) => {
      const field = Object.values(fields)[0] ?? {};
      return [name, String(field.selected_option?.value ?? field.selected_user ?? field.value ?? '')];
    }),
  );

const input = (
  { messages }: FormContext,
  name: string,
  element: InputBlock['element'],
  optional = false,
): InputBlock => ({
  type: 'input',
  block_id: name,
  optional,
  label: words(messages.say(`field.${name}`), 2000),
  element,
});

export const textField = (context: FormContext, name: string, options: { optional?: boolean } = {}): InputBlock =>
  input(
    context,
    name,
    { type: 'plain_text_input', action_id: name, multiline: true, max_length: 2000 },
    options.optional,
  );

export const personField = (context: FormContext, name: string): InputBlock =>
  input(context, name, { type: 'users_select', action_id: name, initial_user: context.actor });

/** One of at most 100; more are left off, and the person names them with a command. */
export const choiceField = (context: FormContext, name: string, choices: [value: string, text: string][]): InputBlock =>
  input(context, name, {
    type: 'static_select',
    action_id: name,
    options: choices
      .slice(0, limits.options)
      .map(([value, text]): PlainTextOption => ({ value, text: words(text, limits.option) })),
  });
