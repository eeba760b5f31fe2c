import type { HandOff } from './view.ts';

/** What a person does to an incident, besides having it read again. */
export type Act =
  | { action: 'acknowledge' }
  | { action: 'assign'; assignee: string }
  | { action: 'note'; text: string }
  | { action: 'resolve'; reason: string }
  | { action: 'reopen' }
  | { action: 'hand-off'; handOff: Omit<HandOff, 'number' | 'by' | 'at'> };

/** Why an act changes nothing: the incident's state does not allow it, or somebody else was first. */
export const refusals = [
  'unknown',
  'acknowledgedBefore',
  'assignedBefore',
  'resolved',
  'open',
  'ownedAlready',
  'noVerdict',
  'noTeam',
  'noAlertmanager',
  'nothingFires',
  'notSilenced',
  'alertmanagerAway',
  'alertmanagerRefuses',
] as const;
export type Refusal = (typeof refusals)[number];
