import { escapeMrkdwn, withoutMarkup } from '../legible.ts';
import type { Block } from '../limits.ts';
import type { Draft } from './draft.ts';
import { mentionToken } from './words.ts';

/** The owner is called once per verdict, only in mode `page`, and only where somebody has to act. */
export const mention = (draft: Draft): Block[] => {
  const { mode, routing, verdict } = draft.view;
  const token = routing?.mention ? mentionToken(routing.mention) : null;
  if (mode !== 'page' || !routing || !token || verdict?.state !== 'fault') return [];
  const words = draft.say('mention', { who: '\u0000', party: draft.line(routing.party, 150) });
  const text = escapeMrkdwn(withoutMarkup(words)).replace('\u0000', token);
  return [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }];
};
