import type { RichTextElement } from '@slack/types';
import type { Silence } from '../../domain/silence.ts';
import type { IncidentView } from '../../domain/view.ts';
import { type Draft, labelled, plain } from './draft.ts';
import { person } from './people.ts';

/**
 * The silence of the incident that ends last; null: there is none. One that has run out since is shown with its end
 * until the card is next drawn, and the end tells.
 */
export const silencedUntil = ({ silences, incident }: IncidentView): Silence | null =>
  silences
    .filter(({ endsAt }) => endsAt > incident.updatedAt)
    .toSorted((a, b) => a.endsAt.localeCompare(b.endsAt))
    .at(-1) ?? null;

/** `Silenced: until 14:30, by @alice: the fix rolls out`. */
export const silencedLine = (draft: Draft): RichTextElement[] => {
  const silence = silencedUntil(draft.view);
  if (!silence) return [];
  return labelled(
    draft.say('label.silenced'),
    ...plain(`${draft.say('label.until')} `),
    ...draft.date(silence.endsAt),
    ...plain(`, ${draft.say('label.by')} `),
    ...person(draft, silence.by),
    ...plain(`: ${draft.line(silence.reason, 200)}`),
  );
};
