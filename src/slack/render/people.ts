import type { RichTextElement } from '@slack/types';
import { type Draft, plain } from './draft.ts';
import { mentionToken } from './words.ts';

/** A person by Slack id, as Slack shows people; anybody else by name. Only in messages that are edited: edits notify nobody. */
export const person = (draft: Draft, actor: string): RichTextElement[] =>
  mentionToken(actor)?.startsWith('<@') ? [{ type: 'user', user_id: actor }] : plain(draft.line(actor, 100));

/** `, acknowledged by @alice, assigned to @bob`: what people did with the incident so far. */
export const peopleOf = (draft: Draft): RichTextElement[] => {
  const { acknowledgedBy, assignedTo, resolvedBy } = draft.view.incident;
  const entries = [
    ['state.acknowledged', acknowledgedBy],
    ['state.assigned', assignedTo],
    ['state.closed', resolvedBy],
  ] as const;
  return entries.flatMap(([key, actor]) => (actor ? [...plain(`, ${draft.say(key)} `), ...person(draft, actor)] : []));
};
