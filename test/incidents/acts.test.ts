import { describe, expect, it } from 'vitest';
import type { Act } from '../../src/domain/act.ts';
import { type ActedOn, perform } from '../../src/incidents/acts.ts';
import { routing } from './samples.ts';

const at = '2026-03-02T00:10:00.000Z';
const open: ActedOn = {
  status: 'open',
  acknowledgedBy: null,
  assignedTo: null,
  resolvedBy: null,
  resolvedAt: null,
  handOff: null,
};
const closed: ActedOn = { ...open, status: 'resolved', resolvedAt: at, resolvedBy: 'U1' };
const toPlatform: Act = {
  action: 'hand-off',
  handOff: { to: 'platform', routing: routing('platform'), escalation: null, why: 'the node was ours', corrects: true },
};
/** What an act leaves behind. */
const left = (before: ActedOn, act: Act): ActedOn => {
  const performed = perform(before, act, 'U2', at);
  return performed.refusal === null ? { ...before, ...performed.set } : before;
};
const refusal = (before: ActedOn, act: Act) => perform(before, act, 'U2', at).refusal;

describe('an act on an incident', () => {
  it('acknowledges once, and not what is over', () => {
    expect(left(open, { action: 'acknowledge' }).acknowledgedBy).toBe('U2');
    expect(refusal({ ...open, acknowledgedBy: 'U1' }, { action: 'acknowledge' })).toBe('acknowledgedBefore');
    expect(refusal(closed, { action: 'acknowledge' })).toBe('resolved');
  });

  it('assigns to one person at a time', () => {
    const assigned = left(open, { action: 'assign', assignee: 'U3' });
    expect(assigned.assignedTo).toBe('U3');
    expect(refusal(assigned, { action: 'assign', assignee: 'U3' })).toBe('assignedBefore');
    expect(left(assigned, { action: 'assign', assignee: 'U4' }).assignedTo).toBe('U4');
  });

  it('closes what is open, and opens what is closed', () => {
    const done = left(open, { action: 'resolve', reason: 'rolled back' });
    expect(done).toMatchObject({ status: 'resolved', resolvedBy: 'U2', resolvedAt: at });
    expect(refusal(done, { action: 'resolve', reason: '' })).toBe('resolved');
    expect(left(done, { action: 'reopen' })).toMatchObject({ status: 'open', resolvedBy: null, resolvedAt: null });
    expect(refusal(open, { action: 'reopen' })).toBe('open');
  });

  it('takes notes in any state, into the trail alone', () => {
    for (const before of [open, closed])
      expect(perform(before, { action: 'note', text: 'asked the vendor' }, 'U2', at)).toEqual({
        refusal: null,
        set: {},
        action: 'note',
        detail: 'asked the vendor',
      });
  });

  it('hands over once to the same owner, and counts', () => {
    const handed = left(open, toPlatform);
    expect(handed.handOff).toMatchObject({ number: 1, to: 'platform', by: 'U2', at, corrects: true });
    expect(refusal(handed, toPlatform)).toBe('ownedAlready');
    const back: Act = { action: 'hand-off', handOff: { ...toPlatform.handOff, to: 'app', routing: routing('app') } };
    expect(left(handed, back).handOff).toMatchObject({ number: 2, to: 'app' });
  });

  it('says in the trail what was done', () => {
    expect(perform(open, toPlatform, 'U2', at)).toMatchObject({
      action: 'correct-owner',
      detail: `platform, ${routing('platform').party}: the node was ours`,
    });
  });
});
