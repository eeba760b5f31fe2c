import type { Evidence } from '../../domain/evidence.ts';
import type { Block } from '../limits.ts';
import { bold, code, type Draft, labelled, paragraph, plain, preformatted, rich } from './draft.ts';

/** Per piece, so that one long log line does not push out the rest. */
const machineTextLimit = 1200;

/** One piece: what it is about, the machine's own text, how to see it again. The verdict says once per source what it cannot show. */
export const evidenceBlock = (draft: Draft, evidence: Evidence): Block => {
  const field = draft.line(evidence.field, 200);
  const value = draft.line(evidence.value, 300);
  // A value that is the text itself is shown once.
  const fact = evidence.text.trim() && evidence.text.trim() !== evidence.value.trim() ? evidence.text : '';
  return rich([
    paragraph(
      [
        ...bold(draft.line(evidence.object, 300)),
        ...(evidence.uid ? [...plain(` ${draft.say('label.uid')} `), ...code(draft.line(evidence.uid, 80))] : []),
      ],
      [
        ...plain(`${draft.say(`evidence.source.${evidence.source}`)}, ${field}`),
        ...(value && fact ? plain(` = ${value}`) : []),
        ...(evidence.at ? [...plain(', '), ...draft.date(evidence.at)] : []),
      ],
    ),
    ...preformatted(draft.lines(fact || evidence.value || evidence.field, machineTextLimit)),
    paragraph(labelled(draft.say('label.seeAgain'), ...code(draft.line(evidence.reproduce)))),
  ]);
};
