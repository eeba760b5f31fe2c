import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import acknowledge from '../../../handlers/actions/acknowledge.ts';
import rerun from '../../../handlers/actions/rerun.ts';
import { incidentOf, loadActions, RecentTriggers } from '../../../src/slack/actions.ts';
import { actionValue } from '../../../src/slack/render/buttons.ts';
import { views } from '../../fakes/view.ts';

const click = { incidentId: 'incident-1', actor: 'U0ALICE01' };

test.each([
  ['acknowledge', acknowledge, 'refusal.acknowledgedBefore', ['incident-1', { action: 'acknowledge' }, 'U0ALICE01']],
  ['rerun', rerun, 'feedback.runningAlready', ['incident-1', 'U0ALICE01']],
] as const)('%s calls its one use case, and speaks only if it was in vain', async (name, handler, feedback, call) => {
  const others = { handOff: async () => null, silence: async () => null, unsilence: async () => null };
  const incidents = { ...others, act: vi.fn(async () => null), rerun: vi.fn(async () => true) };
  expect(handler.action_id).toBe(name);
  expect(await handler.handle(incidents, click)).toBeNull();
  expect(incidents[name === 'rerun' ? 'rerun' : 'act']).toHaveBeenCalledExactlyOnceWith(...call);
  const vain = { ...others, act: async () => 'acknowledgedBefore' as const, rerun: async () => false };
  expect(await handler.handle(vain, click)).toBe(feedback);
});

test('the folder is the register: one file, one button', async () => {
  expect((await loadActions('handlers/actions')).map((handler) => handler.action_id)).toEqual([
    'acknowledge',
    'reopen',
    'rerun',
    'unsilence',
  ]);
});

test('a file whose action_id is not its name is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actions-'));
  writeFileSync(join(folder, 'close.ts'), "export default { action_id: 'open', handle: async () => null };");
  await expect(loadActions(folder)).rejects.toThrow("close.ts must export a default handler with action_id 'close'");
});

test('a button value gives back its incident; anything else gives none', () => {
  expect(incidentOf(actionValue(views.platform()))).toBe('01JD2V7Q4Y8M3N6P9R0S1T2U3V');
  for (const value of [undefined, '', 'one', 'a b c', 7, `${'x'.repeat(300)} 1`]) expect(incidentOf(value)).toBeNull();
});

test('a trigger is new once, until it is an hour old; memory is bounded', () => {
  let now = 0;
  const triggers = new RecentTriggers(() => now);
  expect(triggers.isNew('a')).toBe(true);
  expect(triggers.isNew('a')).toBe(false);
  now = 60 * 60 * 1000;
  expect(triggers.isNew('a')).toBe(true);
  for (let i = 0; i < 10_000; i += 1) triggers.isNew(`t${i}`);
  expect(triggers.isNew('a')).toBe(true);
});
