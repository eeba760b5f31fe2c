import type { ThreadMessage } from '../../domain/message.ts';
import type { HandOff, IncidentView } from '../../domain/view.ts';
import type { Block } from '../limits.ts';
import type { Messages } from '../messages.ts';
import { bold, Draft, labelled, paragraph, plain, prose, rich, subjectOf } from './draft.ts';
import { mention } from './mention.ts';
import { person } from './people.ts';
import { firstAction } from './words.ts';

/** A hand-off is a reply of its own, one each time: the new owner is told, and edits notify nobody. */
export const renderHandOff = (view: IncidentView, handOff: HandOff, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const { party } = handOff.routing;
  const words = {
    owner: draft.say('owned.handedOver', {
      party: draft.line(party, 150),
      owner: draft.say(`owner.${handOff.to}`),
    }),
  };
  const heading = draft.say(handOff.corrects ? 'heading.corrected' : 'heading.handOff', words);
  const parts: Block[][] = [
    [
      rich([
        paragraph(
          bold(heading),
          [...plain(`${draft.say('label.by')} `), ...person(draft, handOff.by)],
          handOff.why ? labelled(draft.say('label.why'), ...prose(draft.line(handOff.why, 800))) : [],
          labelled(draft.say('label.firstAction'), ...plain(firstAction(draft, view.verdict))),
        ),
      ]),
    ],
    mention(draft),
  ].filter((part) => part.length > 0);
  const text = draft.say('lockScreen.handOff', { ...words, subject: draft.line(subjectOf(view), 200) });
  return draft.finish(`hand-off-${handOff.number}`, text, parts);
};
