import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AlertGroup } from '../../../src/domain/alert.ts';
import type { IncidentView } from '../../../src/domain/view.ts';
import { legible } from '../../../src/slack/legible.ts';
import { limitProblems } from '../../../src/slack/limits.ts';
import { loadMessages } from '../../../src/slack/messages.ts';
import { asPlainText } from '../../../src/slack/plain-text.ts';
import { renderThread } from '../../../src/slack/render/thread.ts';
import { hostileStrings } from '../../fakes/hostile.ts';
import { refuseBlocks } from '../../fakes/slack/validate.ts';
import { incident, incidentView, storedAlert, views } from '../../fakes/view.ts';
import { leaves, wordsOf } from '../words-of.ts';

const messages = loadMessages('templates/messages', 'en');

/** What mrkdwn may hold of ours: the date token, and a mention of the directory's. */
const ownTokens = /<!date\^\d+\^[^|<>]*\|[^|<>]*>|<!subteam\^(?:S0614TZR7|S0REPORTS)>|<@U0ONCALL1>/g;
const dangerous = /<|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Short when it fails: the texts are long. */
const first = (text: string, forbidden: RegExp): string | undefined => forbidden.exec(text)?.[0];

/** Nothing of the data can act: no token, no markup, no link of its own, no invisible character. */
const expectHarmless = (view: IncidentView): void => {
  for (const message of renderThread(view, messages)) {
    expect(limitProblems(message.blocks as any, message.text)).toEqual([]);
    expect(refuseBlocks(message.blocks)).toBeNull();
    for (const text of [message.text, asPlainText(message, 'See the page.')]) {
      const bare = text.replace(ownTokens, '');
      expect(first(bare, dangerous)).toBeUndefined();
      expect(first(bare, /[*~`]|https?:\/\/|@(?:here|channel|everyone)/i)).toBeUndefined();
      expect([...text].length).toBeLessThanOrEqual(4000);
    }
    for (const leaf of leaves(message.blocks)) {
      if (leaf.type === 'mrkdwn') {
        expect(leaf.verbatim).toBe(true);
        expect(first(leaf.text.replace(ownTokens, ''), /[<>*`~]/)).toBeUndefined();
      }
      if (leaf.type === 'link') expect(leaf.url).toMatch(/^https?:\/\/[^\s<>|"`]+$/);
      if (leaf.text) expect(first(leaf.text, /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u200b-\u200f]/)).toBeUndefined();
    }
  }
};

/** Every string of a view but those that are ours: ids, times, states and the directory's mention. */
const ours = new Set([
  ...['id', 'at', 'readAt', 'firedAt', 'openedAt', 'updatedAt', 'resolvedAt', 'verdictAt', 'mention', 'pageUrl'],
  ...['status', 'state', 'owner', 'formerOwner', 'layer', 'source', 'severity', 'confidence', 'mode', 'progress'],
  ...['audience', 'boundary', 'kind', 'deadline', 'onset', 'channel'],
]);
const infect = <T>(value: T, text: string): T => {
  if (typeof value === 'string') return text as T;
  if (Array.isArray(value)) return value.map((entry) => infect(entry, text)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, ours.has(key) ? entry : infect(entry, text)]),
  ) as T;
};

test.each(hostileStrings.map((text) => [JSON.stringify(text).slice(0, 50), text]))(
  'in every place of every view: %s',
  (_, text) => {
    for (const view of Object.values(views)) expectHarmless(infect({ ...view(), mode: 'page' as const }, text));
  },
);

test('hostile labels stay legible: their words are in the card', () => {
  for (const text of hostileStrings.filter((candidate) => candidate.trim() && candidate.length < 100)) {
    const [root] = renderThread(incidentView({ incident: incident({ title: text }) }), messages);
    expect(wordsOf(root!)).toContain(legible(text));
  }
});

test("all cases' alerts render within the limits and harmless", () => {
  const cases = readdirSync('test/cases');
  expect(cases.length).toBeGreaterThan(50);
  for (const id of cases) {
    const group = JSON.parse(readFileSync(`test/cases/${id}/alert.json`, 'utf8')) as AlertGroup;
    const alerts = group.alerts.map((alert) => storedAlert({ ...alert }));
    const title = group.alerts[0]?.labels.alertname ?? id;
    const view = incidentView({ alerts, externalURL: group.externalURL, incident: incident({ title }) });
    expectHarmless(view);
    expectHarmless({ ...view, verdict: null });
  }
});
