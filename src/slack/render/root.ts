import type { RichTextElement } from '@slack/types';
import type { MissingRead } from '../../domain/finding.ts';
import type { ThreadMessage } from '../../domain/message.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { IncidentView } from '../../domain/view.ts';
import { escapeMrkdwn, truncate, withoutMarkup } from '../legible.ts';
import { type Block, limits } from '../limits.ts';
import type { Messages } from '../messages.ts';
import { buttons } from './buttons.ts';
import { bullets, Draft, fix, labelled, note, paragraph, plain, prose, rich, subjectOf } from './draft.ts';
import { layerBlocks } from './layer-lines.ts';
import { linkLine } from './links.ts';
import { peopleOf, person } from './people.ts';
import { silencedLine } from './silenced.ts';
import { firstAction, ownerPhrase, statusPhrase } from './words.ts';

const severityMark = { critical: '🔴', warning: '🟠', info: '🔵', none: '⚪' } as const;

const mark = ({ incident, verdict }: IncidentView): string => {
  if (incident.status === 'resolved') return '✅';
  return verdict && verdict.state !== 'fault' ? '⚪' : severityMark[incident.severity];
};

/** The header holds 150 characters; a longer title is repeated whole in the card. */
const title = (draft: Draft): { header: Block; whole: RichTextElement[] } => {
  const { incident } = draft.view;
  const words = `${draft.say(`severity.${incident.severity}`)}: ${draft.line(incident.title, 1000)}, ${draft.line(subjectOf(draft.view), 1000)}`;
  const { text, cut } = truncate(`${mark(draft.view)} ${words}`, limits.header - 1);
  return {
    header: {
      type: 'header',
      text: { type: 'plain_text', text: cut > 0 ? `${text}…` : text, emoji: false },
    },
    whole: cut > 0 ? labelled(draft.say('label.title'), ...plain(words)) : [],
  };
};

const stateLine = (draft: Draft): RichTextElement[] => {
  const { alerts } = draft.view;
  const firing = alerts.filter((alert) => alert.status === 'firing').length;
  const many = alerts.length > 1 ? `, ${draft.say('state.alerts', { firing, total: alerts.length })}` : '';
  return labelled(draft.say('label.state'), ...plain(`${statusPhrase(draft)}${many}`), ...peopleOf(draft));
};

/** `Handed over: by @bob, wrong owner: the node was cordoned by us`. */
const handedOver = (draft: Draft): RichTextElement[] => {
  const { handOff } = draft.view;
  if (!handOff) return [];
  const why = draft.line(handOff.why, 300);
  return labelled(
    draft.say(handOff.corrects ? 'label.corrected' : 'label.handedOver'),
    ...plain(`${draft.say('label.by')} `),
    ...person(draft, handOff.by),
    ...plain(why ? `: ${why}` : ''),
  );
};

const verdictLines = (draft: Draft): RichTextElement[][] => {
  const { verdict, routing } = draft.view;
  if (!verdict) return [];
  const calm = verdict.state !== 'fault';
  return [
    labelled(draft.say('label.owner'), ...plain(ownerPhrase(draft, verdict, routing))),
    handedOver(draft),
    routing?.knownBy && !draft.view.handOff && !calm
      ? labelled(draft.say('label.knownBy'), ...plain(draft.line(routing.knownBy, 300)))
      : [],
    labelled(draft.say('label.cause'), ...plain(draft.line(draft.sentence(verdict.cause), 800))),
    calm ? plain(draft.say(`calm.${verdict.state}`)) : [],
    verdict.deadline
      ? [
          ...labelled(draft.say('label.deadline'), ...draft.date(verdict.deadline)),
          ...plain(`. ${draft.say('calm.recheck')}`),
        ]
      : [],
    calm ? [] : labelled(draft.say('label.firstAction'), ...prose(firstAction(draft, verdict))),
    verdict.impact ? labelled(draft.say('label.impact'), ...plain(draft.line(verdict.impact, 500))) : [],
  ];
};

/** What an undetermined verdict would need, each with the line that makes it readable. */
export const missingReads = (draft: Draft, missing: MissingRead[]): Block[] => {
  if (missing.length === 0) return [];
  return [
    rich([
      paragraph(labelled(draft.say('label.missing'))),
      ...bullets(
        missing.map((read) => [
          ...plain(`${draft.say(`layer.${read.layer}`)}: ${draft.line(read.missing, 300)}`),
          ...(read.fix ? [...plain(`. ${draft.say('label.fix')}: `), ...fix(draft.line(read.fix, 300))] : []),
        ]),
      ),
    ]),
  ];
};

/** What the lines of the layers have not named yet. */
const furtherMissing = (verdict: Verdict | null): MissingRead[] => {
  const named = new Set(verdict?.layers.map((entry) => (entry.status === 'unknown' ? entry.missing : '')));
  return (verdict?.missing ?? []).filter((read) => !named.has(read.missing));
};

const times = (draft: Draft): Block => {
  const { incident, verdict, verdictAt, readings } = draft.view;
  const read =
    verdictAt ??
    Object.values(readings)
      .map((reading) => reading.readAt)
      .sort()
      .at(-1) ??
    null;
  const entries: [string, string | null][] = [
    ['onset', verdict?.onset ?? null],
    ['fired', incident.firedAt],
    ['read', read],
    ['resolved', incident.resolvedAt],
  ];
  const cluster = escapeMrkdwn(withoutMarkup(draft.line(incident.cluster, 100)));
  return note(
    [
      ...entries.flatMap(([key, at]) => (at ? [`${draft.say(`label.${key}`)} ${draft.dateToken(at)}`] : [])),
      `${draft.say('label.cluster')} ${cluster}`,
    ].join(' · '),
  );
};

const notes = (draft: Draft): Block[] => {
  const { rejected, incident } = draft.view;
  const shown = rejected.slice(0, 5).map((reason) => plain(draft.line(reason, 200)));
  const left = rejected.length - shown.length;
  return [
    ...(rejected.length > 0
      ? [
          rich([
            paragraph(plain(draft.say('note.rejected', { count: rejected.length }))),
            ...bullets([
              ...shown,
              ...(left > 0
                ? [[...plain(`${draft.say('note.rejectedMore', { count: left })}. `), ...draft.elsewhere()]]
                : []),
            ]),
          ]),
        ]
      : []),
    ...(incident.truncatedAlerts > 0
      ? [rich([paragraph(plain(draft.say('note.truncated', { count: incident.truncatedAlerts })))])]
      : []),
  ];
};

const lockScreen = (draft: Draft): string => {
  const { incident, verdict, routing } = draft.view;
  return draft.say(verdict ? 'lockScreen.verdict' : 'lockScreen.running', {
    severity: draft.say(`severity.${incident.severity}`),
    title: draft.line(incident.title, 100),
    subject: draft.line(subjectOf(draft.view), 150),
    status: statusPhrase(draft),
    owner: verdict ? ownerPhrase(draft, verdict, routing) : '',
    action: draft.line(firstAction(draft, verdict), 250),
  });
};

/** The card of the incident: one message, edited in place from the first alert to the resolve. */
export const renderRoot = (view: IncidentView, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const { header, whole } = title(draft);
  const links = linkLine(draft);
  const parts: Block[][] = [
    [header],
    [rich([paragraph(whole, stateLine(draft), silencedLine(draft), ...verdictLines(draft))])],
    ...layerBlocks(draft).map((block) => [block]),
    missingReads(draft, furtherMissing(view.verdict)),
    ...notes(draft).map((block) => [block]),
  ].filter((part) => part.length > 0);
  return draft.finish('root', lockScreen(new Draft(view, messages)), parts, [
    times(draft),
    ...(links.length > 0 ? [rich([paragraph(links)])] : []),
    ...buttons(draft),
  ]);
};
