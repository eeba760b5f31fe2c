import { expect, test } from 'vitest';
import { loadMessages } from '../../../src/slack/messages.ts';
import { renderWithdrawn } from '../../../src/slack/render/replies.ts';
import { renderThread } from '../../../src/slack/render/thread.ts';
import { act, incident, incidentView } from '../../fakes/view.ts';
import { wordsOf } from '../words-of.ts';

const messages = loadMessages('templates/messages', 'en');
const closed = (overrides = {}) =>
  incidentView({
    incident: incident({ status: 'resolved', resolvedAt: '2026-11-20T09:37:00Z' }),
    trail: [
      act({ action: 'acknowledge' }),
      act({ action: 'run-failed' }),
      act({ action: 'note', detail: 'asked them' }),
    ],
    ...overrides,
  });
const closing = (view: ReturnType<typeof incidentView>) =>
  renderThread(view, messages).find(({ slot }) => slot === 'closing');

test('a resolved incident ends with how long it took, whose it was, why, and who did what', () => {
  const reply = closing(closed())!;
  expect(reply.text).toBe('Deployment media/preview is resolved after 1 h 12 min');
  const words = wordsOf(reply);
  expect(words).toContain('Cluster platform (platform team), high confidence');
  expect(words).toContain('NodePool general is at its cpu limit');
  expect(words).toMatch(/U0ALICE01: acknowledged[\s\S]*noted, asked them/);
  expect(words).not.toContain('run-failed');
});

test('an open one has no summary; one that opens again says so in its place', () => {
  expect(closing(incidentView())).toBeUndefined();
  expect(renderWithdrawn(incidentView(), 'closing', messages).text).toContain('open again');
});

test('a summary is one message however much was done, and calls nobody', () => {
  const trail = Array.from({ length: 40 }, () => act({ action: 'note', detail: `<@U0EVIL001> ${'x'.repeat(3000)}` }));
  const reply = closing(closed({ trail }))!;
  expect(wordsOf(reply)).toContain('28 earlier');
  expect(JSON.stringify(reply.blocks)).not.toMatch(/"type":"(user|broadcast|usergroup)"/);
});
