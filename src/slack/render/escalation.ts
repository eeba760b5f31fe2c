import type { ThreadMessage } from '../../domain/message.ts';
import type { Escalation, IncidentView } from '../../domain/view.ts';
import { legibleLines } from '../legible.ts';
import { costOf } from '../limits.ts';
import type { Messages } from '../messages.ts';
import { bold, Draft, paragraph, plain, preformatted, rich } from './draft.ts';
import { list, runNote } from './replies.ts';
import { split } from './split.ts';

/** What one message holds beside headings and notes, below Slack's 8,000 for all; and one preformatted block of it. */
const messageLimit = 7000;
const blockLimit = 2500;
/** Messages that one draft may fill: more would bury the thread. */
const maxMessages = 4;

/** The draft the owner needs, in literal text that can be copied whole: what one message cannot hold, the next one does. */
export const renderEscalation = (view: IncidentView, escalation: Escalation, messages: Messages): ThreadMessage[] => {
  const asked = list(new Draft(view, messages), 'label.incomplete', escalation.incomplete);
  const askedCost = asked.reduce((sum, block) => sum + costOf(block), 0);
  const pages = split(legibleLines(escalation.body).trim(), Math.max(blockLimit, messageLimit - askedCost));
  const shown = pages.slice(0, maxMessages);
  return shown.map((body, index) => {
    const draft = new Draft(view, messages);
    const title = draft.line(escalation.title, 300);
    const part = shown.length > 1 ? draft.say('heading.part', { part: index + 1, of: shown.length }) : '';
    const text = draft.say('lockScreen.escalation', { audience: draft.say(`owner.${escalation.audience}`), title });
    const left = pages.slice(maxMessages).reduce((lines, page) => lines + page.split('\n').length, 0);
    return draft.finish(
      index === 0 ? 'escalation' : `escalation-${index + 1}`,
      text,
      [
        [rich([paragraph(bold(draft.say('heading.escalation', { title })), plain(part))])],
        ...(index === 0 ? asked.map((block) => [block]) : []),
        ...split(body, blockLimit).map((piece) => [rich(preformatted(piece))]),
      ],
      [
        ...(index === maxMessages - 1 && left > 0
          ? [rich([paragraph([...plain(`${draft.say('more.lines', { count: left })}. `), ...draft.elsewhere()])])]
          : []),
        ...runNote(draft, view.verdictAt),
      ],
    );
  });
};
