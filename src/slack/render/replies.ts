import type { RichTextElement } from '@slack/types';
import type { Evidence } from '../../domain/evidence.ts';
import type { Layer } from '../../domain/layer.ts';
import type { ThreadMessage } from '../../domain/message.ts';
import type { LayerVerdict, Verdict } from '../../domain/verdict.ts';
import type { IncidentView } from '../../domain/view.ts';
import type { Block } from '../limits.ts';
import type { Messages } from '../messages.ts';
import {
  bold,
  bullets,
  code,
  Draft,
  fix as fixWords,
  labelled,
  note,
  paragraph,
  plain,
  prose,
  rich,
  subjectOf,
} from './draft.ts';
import { evidenceBlock } from './evidence.ts';
import { mention } from './mention.ts';
import { missingReads } from './root.ts';
import { firstAction, layerName, ownerPhrase } from './words.ts';

/** Which run a reply is of: after a re-run that no longer speaks of it, the reply stays in the thread as it was. */
export const runNote = (draft: Draft, readAt: string | null | undefined): Block[] => [
  note(
    [draft.say('rule.run', { run: draft.view.incident.run }), ...(readAt ? [draft.dateToken(readAt)] : [])].join(' · '),
  ),
];

interface Unread {
  missing: string;
  fix: string;
}

/** Sources of the layer that could not be read, each once, but for the one that the verdict names. */
const otherGaps = (view: IncidentView, layer: LayerVerdict): Unread[] => {
  const gaps = view.readings[layer.layer]?.gaps ?? [];
  const named = layer.status === 'unknown' ? layer.missing : null;
  return [...new Map(gaps.map((gap) => [`${gap.missing}\n${gap.fix}`, gap])).values()].filter(
    (gap) => gap.missing !== named,
  );
};

const unreadLines = (draft: Draft, { missing, fix }: Unread): RichTextElement[][] => [
  labelled(draft.say('label.missing'), ...plain(draft.line(missing))),
  fix ? labelled(draft.say('label.fix'), ...fixWords(draft.line(fix))) : [],
];

/** Where the verdict is open, the first few of an unknown layer, since one of them may settle it; else only how many. */
const gapBlocks = (draft: Draft, layer: LayerVerdict): Block[] => {
  const gaps = otherGaps(draft.view, layer);
  const open =
    layer.status === 'unknown' && draft.view.verdict?.owner === 'undetermined' && draft.view.verdict.state === 'fault';
  const shown = gaps.slice(0, open ? 6 : 0);
  const left = gaps.length - shown.length;
  return [
    ...shown.map((gap) => rich([paragraph(...unreadLines(draft, gap))])),
    ...(left > 0
      ? [rich([paragraph([...plain(`${draft.say('note.unread', { count: left })}. `), ...draft.elsewhere()])])]
      : []),
  ];
};

/** What nothing speaks for or against is worth a reply only where the verdict is open. */
export const hasReply = (verdict: Verdict, layer: LayerVerdict): boolean =>
  layer.status === 'implicated' ||
  (layer.status === 'unknown' && !(layer.silent && (verdict.owner !== 'undetermined' || verdict.state !== 'fault')));

/**
 * The layer whose reply holds a piece of evidence; null: the verdict's own. What the objects of another layer show of
 * the fault is told with the owner's, whom it speaks against: a cleared layer has no reply.
 */
const layerOfReply = (verdict: Verdict, piece: Evidence): Layer | null => {
  const statusOf = (layer: string) => verdict.layers.find((entry) => entry.layer === layer)?.status;
  if (statusOf(piece.layer) === 'implicated') return piece.layer;
  if (verdict.owner !== 'undetermined' && statusOf(verdict.owner) === 'implicated') return verdict.owner;
  return verdict.layers.some((entry) => entry.layer === piece.layer && hasReply(verdict, entry)) ? piece.layer : null;
};

const evidenceIn = (verdict: Verdict, layer: Layer | null): Evidence[] =>
  verdict.evidence.filter((piece) => layerOfReply(verdict, piece) === layer);

/** The evidence of one layer that is implicated or could not be read. */
export const renderLayer = (view: IncidentView, layer: LayerVerdict, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const names = { layer: layerName(draft, layer.layer), status: draft.say(`layerStatus.${layer.status}`) };
  const because = draft.line(layer.status === 'unknown' ? layer.missing : layer.because, 800);
  const evidence = view.verdict ? evidenceIn(view.verdict, layer.layer) : [];
  const reason = layer.status === 'unknown' ? unreadLines(draft, layer) : [plain(because)];
  const parts: Block[][] = [
    [rich([paragraph(bold(draft.say('heading.layer', names)), ...reason)])],
    ...evidence.map((piece) => [evidenceBlock(draft, piece)]),
    ...(evidence.length === 0 && layer.status === 'implicated'
      ? [[rich([paragraph(plain(draft.say('heading.noEvidence')))])]]
      : []),
    ...gapBlocks(draft, layer).map((block) => [block]),
  ];
  const text = draft.say('lockScreen.layer', { ...names, because });
  return draft.finish(`layer-${layer.layer}`, text, parts, runNote(draft, view.readings[layer.layer]?.readAt));
};

const chain = (draft: Draft, verdict: Verdict): Block[] =>
  verdict.chain.length === 0
    ? []
    : [
        rich([
          paragraph(bold(draft.say('label.chain'))),
          ...bullets(
            verdict.chain.map((link) => [
              ...bold(draft.line(link.object, 200)),
              ...(link.uid ? [...plain(` ${draft.say('label.uid')} `), ...code(draft.line(link.uid, 80))] : []),
              ...plain(`: ${draft.line(link.claim, 400)}`),
            ]),
            'ordered',
          ),
        ]),
      ];

export const list = (draft: Draft, label: string, items: string[]): Block[] =>
  items.length === 0
    ? []
    : [rich([paragraph(bold(draft.say(label))), ...bullets(items.map((item) => prose(draft.line(item, 400))))])];

const contributing = (draft: Draft, verdict: Verdict): string[] =>
  verdict.contributing.map(({ owner, action }) => `${draft.say(`owner.${owner}`)}: ${draft.sentence(action)}`);

/** The verdict with its proof: the chain, what it cannot show, what would change it. */
export const renderVerdict = (view: IncidentView, verdict: Verdict, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const owner = ownerPhrase(draft, verdict, view.routing);
  const cause = draft.line(draft.sentence(verdict.cause), 800);
  const judged = draft.say('rule.judged', {
    rule: verdict.rule ?? draft.say('rule.none'),
    ruleSet: verdict.ruleSet,
    run: view.incident.run,
  });
  const parts: Block[][] = [
    [
      rich([
        paragraph(
          bold(draft.say('heading.verdict', { owner })),
          plain(cause),
          verdict.deadline ? labelled(draft.say('label.deadline'), ...draft.date(verdict.deadline)) : [],
        ),
      ]),
    ],
    // A changed owner is called in the reply that says so: this message may be an edit, which notifies nobody.
    turnOf(view, verdict) === null ? mention(draft) : [],
    chain(draft, verdict),
    verdict.owner === 'undetermined' && verdict.state === 'fault' ? missingReads(draft, verdict.missing) : [],
    list(draft, 'label.contributing', contributing(draft, verdict)),
    list(draft, 'label.cannotShow', verdict.cannotShow),
    list(draft, 'label.wouldChange', verdict.wouldChange),
    ...evidenceIn(verdict, null).map((piece) => [evidenceBlock(draft, piece)]),
  ].filter((part) => part.length > 0);
  const text = draft.say('lockScreen.reply', { owner, cause });
  return draft.finish('verdict', text, parts, [
    rich([paragraph(labelled(draft.say('label.judgedBy'), ...plain(draft.line(judged, 300))))]),
  ]);
};

/** A vendor takes no steps in the cluster: those are the readers', while the vendor has its case. */
const nextStepsHeading = (draft: Draft, verdict: Verdict): string => {
  const party = draft.view.routing?.party;
  if (!party || verdict.state !== 'fault') return draft.say('heading.nextStepsOpen');
  const key = verdict.owner === 'cloud' ? 'heading.nextStepsVendor' : 'heading.nextSteps';
  return draft.say(key, { party: draft.line(party, 150) });
};

export const renderNextSteps = (view: IncidentView, verdict: Verdict, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const steps = verdict.nextSteps.map((step) => prose(draft.line(draft.sentence(step), 600)));
  return draft.finish(
    'next-steps',
    draft.say('lockScreen.nextSteps', { action: firstAction(draft, verdict) }),
    [
      [rich([paragraph(bold(nextStepsHeading(draft, verdict))), ...bullets(steps, 'ordered')])],
      ...list(draft, 'label.contributing', contributing(draft, verdict)).map((block) => [block]),
    ],
    runNote(draft, view.verdictAt),
  );
};

/** How a verdict turned the one before it around: what was expected is a fault now or is over, or the owner is another. */
type Turn = 'raised' | 'closed' | 'ownerChange';

export const turnOf = ({ formerOwner, formerState }: IncidentView, { state }: Verdict): Turn | null => {
  if (formerState === 'expected' && state === 'fault') return 'raised';
  if (formerState === 'expected' && state === 'over') return 'closed';
  return formerOwner === null ? null : 'ownerChange';
};

/** A turn is a reply of its own, one per run: edits notify nobody. */
export const renderTurn = (view: IncidentView, verdict: Verdict, turn: Turn, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const former = draft.say(`owner.${view.formerOwner ?? 'undetermined'}`);
  const owner = ownerPhrase(draft, verdict, view.routing);
  const parts: Block[][] = [
    [
      rich([
        paragraph(
          bold(draft.say(`heading.${turn}`, { former, owner })),
          labelled(draft.say('label.cause'), ...plain(draft.line(draft.sentence(verdict.cause), 800))),
        ),
      ]),
    ],
    mention(draft),
  ].filter((part) => part.length > 0);
  const text = draft.say(`lockScreen.${turn}`, { former, owner, action: firstAction(draft, verdict) });
  return draft.finish(`owner-change-${view.incident.run}`, text, parts);
};

/**
 * What the owner is told in a channel of its own: whose incident, why, what first. Only where the cluster's mode lets
 * Faultline speak there, and the owner has a channel that is not the thread's.
 */
export const renderForOwner = (view: IncidentView, verdict: Verdict, messages: Messages): ThreadMessage[] => {
  const channel = view.routing?.channel;
  if (view.mode === 'observe' || verdict.state !== 'fault' || !channel || channel === view.channel) return [];
  const draft = new Draft(view, messages);
  const owner = ownerPhrase(draft, verdict, view.routing);
  const subject = draft.line(subjectOf(view), 200);
  const parts = [
    [
      rich([
        paragraph(
          bold(draft.say('heading.forOwner', { subject, owner })),
          labelled(draft.say('label.cause'), ...plain(draft.line(draft.sentence(verdict.cause), 800))),
          labelled(draft.say('label.firstAction'), ...prose(firstAction(draft, verdict))),
        ),
        paragraph([
          ...plain(`${draft.say('note.threadIn', { channel: draft.line(view.channel, 100) })} `),
          ...draft.elsewhere(),
        ]),
      ]),
    ],
  ];
  const text = draft.say('lockScreen.forOwner', { subject, owner, action: firstAction(draft, verdict) });
  return [{ ...draft.finish(`for-owner-${channel}`, text, parts), elsewhere: channel }];
};

/** A reply of a former run that the latest one has nothing to put in its place. */
export const renderWithdrawn = (view: IncidentView, slot: string, messages: Messages): ThreadMessage => {
  const draft = new Draft(view, messages);
  const key = slot === 'closing' ? 'note.openAgain' : 'note.withdrawn';
  const text = draft.say(key, { run: view.incident.run });
  return draft.finish(slot, text, [[note(text)]]);
};
