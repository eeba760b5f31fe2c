import type { Party } from './directory.ts';

/** One place that was looked at for the name of a team, in the order of precedence. */
export interface OwnerFact {
  /** The place: `alert KubePodCrashLooping`, `Deployment media/preview`, `namespace media`, `directory`, `no team named`. */
  where: string;
  /** `label team=media`, or which keys were looked for. */
  what: string;
  /** `decides`: the first that names a team. `outranked`: names one too, and comes later. */
  outcome: 'decides' | 'outranked' | 'absent' | 'unusable' | 'not read';
  /** Why it is unusable. */
  note: string;
  party: Party | null;
}

/** Nothing there under any of the keys. */
export const absent = (where: string, what: string): OwnerFact => ({
  where,
  what,
  outcome: 'absent',
  note: '',
  party: null,
});

/** The object could not be looked at. */
export const notRead = (where: string): OwnerFact => ({
  where,
  what: 'labels and annotations',
  outcome: 'not read',
  note: 'the object is not among the facts',
  party: null,
});
