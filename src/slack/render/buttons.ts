import type { ActionsBlock, Button } from '@slack/types';
import type { IncidentView } from '../../domain/view.ts';
import type { Draft } from './draft.ts';
import { silencedUntil } from './silenced.ts';
import { isRunning } from './words.ts';

/** The value a button sends back: which incident, and which state of it the person had before them. */
export const actionValue = ({ incident }: IncidentView): string => `${incident.id} ${incident.run}.${incident.refires}`;

/** Only what can be done now: no second acknowledgement, no run while one is under way, no hand-off before a verdict. */
const possible = (view: IncidentView): string[] => {
  const { incident, verdict } = view;
  const rerun = isRunning(view) ? [] : ['rerun'];
  if (incident.status === 'resolved') return ['reopen', ...rerun];
  return [
    ...(incident.acknowledgedBy ? [] : ['acknowledge']),
    'assign',
    ...rerun,
    ...(verdict ? ['hand-off', 'wrong-owner'] : []),
    'silence',
    ...(silencedUntil(view) ? ['unsilence'] : []),
    'resolve',
  ];
};

export const buttons = (draft: Draft): ActionsBlock[] => [
  {
    type: 'actions',
    elements: possible(draft.view).map(
      (action): Button => ({
        type: 'button',
        action_id: action,
        text: { type: 'plain_text', text: draft.say(`button.${action}`), emoji: false },
        value: actionValue(draft.view),
        ...(action === 'acknowledge' ? { style: 'primary' } : {}),
      }),
    ),
  },
];
