import type { Act, Refusal } from '../domain/act.ts';
import type { Incident } from '../domain/incident.ts';
import type { HandOff } from '../domain/view.ts';

/** The part of an incident that acts change. */
export type ActedOn = Pick<Incident, 'status' | 'acknowledgedBy' | 'assignedTo' | 'resolvedBy' | 'resolvedAt'> & {
  handOff: HandOff | null;
};

/** A correction of the owner is a hand-off that says something of the verdict. */
type AuditAction = Act['action'] | 'correct-owner';

export type Performed =
  | { refusal: Refusal }
  | { refusal: null; set: Partial<ActedOn>; action: AuditAction; detail: string };

/**
 * What an act makes of an incident. Pure: two people who click at once are told apart by the order in which the store
 * asks.
 */
export const perform = (before: ActedOn, act: Act, actor: string, at: string): Performed => {
  switch (act.action) {
    case 'acknowledge':
      if (before.status === 'resolved') return { refusal: 'resolved' };
      if (before.acknowledgedBy !== null) return { refusal: 'acknowledgedBefore' };
      return done(act, { acknowledgedBy: actor });
    case 'assign':
      if (before.assignedTo === act.assignee) return { refusal: 'assignedBefore' };
      return done(act, { assignedTo: act.assignee }, act.assignee);
    case 'note':
      return done(act, {}, act.text);
    case 'resolve':
      if (before.status === 'resolved') return { refusal: 'resolved' };
      return done(act, { status: 'resolved', resolvedAt: at, resolvedBy: actor }, act.reason);
    case 'reopen':
      if (before.status === 'open') return { refusal: 'open' };
      return done(act, { status: 'open', resolvedAt: null, resolvedBy: null });
    case 'hand-off':
      return handOver(before.handOff, act.handOff, actor, at);
  }
};

/** What an act changes, and the line that the audit trail keeps of it. */
const done = ({ action }: { action: AuditAction }, set: Partial<ActedOn>, detail = ''): Performed => ({
  refusal: null,
  set,
  action,
  detail,
});

const handOver = (
  before: HandOff | null,
  next: Extract<Act, { action: 'hand-off' }>['handOff'],
  by: string,
  at: string,
): Performed => {
  if (before?.to === next.to && before.routing.party === next.routing.party) return { refusal: 'ownedAlready' };
  const handOff: HandOff = { ...next, number: (before?.number ?? 0) + 1, by, at };
  const action = next.corrects ? 'correct-owner' : 'hand-off';
  return done({ action }, { handOff }, `${next.to}, ${next.routing.party}: ${next.why}`);
};
