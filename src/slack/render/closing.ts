import type { RichTextElement } from '@slack/types';
import type { ThreadMessage } from '../../domain/message.ts';
import type { IncidentView } from '../../domain/view.ts';
import type { Block } from '../limits.ts';
import type { Messages } from '../messages.ts';
import { bold, bullets, Draft, labelled, paragraph, plain, rich, subjectOf } from './draft.ts';
import { ownerPhrase } from './words.ts';

/** Acts that a summary tells; a run that failed is not what somebody did. */
const told = new Set(['acknowledge', 'assign', 'note', 'hand-off', 'correct-owner', 'silence', 'resolve', 'reopen']);
const mostTold = 12;

/** `1 h 12 min`, in the units that matter for how long an incident took. */
const span = (draft: Draft, ms: number): string => {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), minutes % 60];
  return days > 0
    ? draft.say('span.days', { days, hours })
    : hours > 0
      ? draft.say('span.hours', { hours, minutes: rest })
      : draft.say('span.minutes', { minutes });
};

const people = (draft: Draft): RichTextElement[][] => {
  const acts = draft.view.trail.filter(({ action }) => told.has(action));
  // Names are plain text: a summary is a new message, and nobody is to be called by it.
  const lines = acts
    .slice(-mostTold)
    .map(({ at, actor, action, detail }) => [
      ...draft.date(at),
      ...plain(
        ` ${draft.line(actor, 80)}: ${draft.say(`act.${action}`)}${detail ? `, ${draft.line(detail, 200)}` : ''}`,
      ),
    ]);
  const left = acts.length - lines.length;
  return left > 0
    ? [[...plain(`${draft.say('note.earlierActs', { count: left })} `), ...draft.elsewhere()], ...lines]
    : lines;
};

/** How it ended: one reply, edited when it ends again, so that a flapping alert does not fill the thread. */
export const renderClosing = (view: IncidentView, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const { incident, verdict, routing } = view;
  const lasted = span(draft, Date.parse(incident.resolvedAt ?? incident.updatedAt) - Date.parse(incident.firedAt));
  const lines = people(draft);
  const parts: Block[][] = [
    [
      rich([
        paragraph(
          bold(draft.say('heading.closing', { lasted })),
          incident.refires > 0 ? plain(draft.say('state.refired', { count: incident.refires })) : [],
          verdict ? labelled(draft.say('label.owner'), ...plain(ownerPhrase(draft, verdict, routing))) : [],
          verdict ? labelled(draft.say('label.cause'), ...plain(draft.line(draft.sentence(verdict.cause), 800))) : [],
        ),
      ]),
    ],
    ...(lines.length > 0 ? [[rich([paragraph(bold(draft.say('label.people'))), ...bullets(lines)])]] : []),
  ];
  const text = draft.say('lockScreen.closing', { subject: draft.line(subjectOf(view), 200), lasted });
  return draft.finish('closing', text, parts);
};
