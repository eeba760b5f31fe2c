import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { refusals } from '../../src/domain/act.ts';
import { formView, loadForms } from '../../src/slack/forms.ts';
import { loadMessages, type Messages } from '../../src/slack/messages.ts';
import { renderWithdrawn } from '../../src/slack/render/replies.ts';
import { renderThread } from '../../src/slack/render/thread.ts';
import {
  act,
  evidence,
  handOff,
  incident,
  incidentView,
  reading,
  silence,
  storedAlert,
  verdict,
  views,
} from '../fakes/view.ts';
import { wordsOf } from './words-of.ts';

const folderWith = (files: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'messages-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};
const english = readFileSync('templates/messages/en.yaml', 'utf8');

const keysOf = (tree: object, path = ''): string[] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [`${path}${key}`] : keysOf(value, `${path}${key}.`),
  );

test('a second language is one more file; what it lacks is said in English', () => {
  const chinese =
    'label:\n  owner: 负责人\nowner:\n  platform: 平台团队\ndate:\n  fallback: "{{ year }}年{{ month }}月{{ day }}日 {{ time }} UTC"\n';
  const messages = loadMessages(folderWith({ 'en.yaml': english, 'zh-CN.yaml': chinese }), 'zh-CN');
  const cause = { en: 'in English', 'zh-CN': '节点池已达上限' };
  const [root] = renderThread(incidentView({ verdict: verdict({ cause }) }), messages);
  const words = wordsOf(root!);
  expect(words).toContain('负责人');
  expect(words).toContain('平台团队');
  expect(words).toContain('2026年11月20日 08:12:31 UTC');
  expect(words).toContain('节点池已达上限');
  expect(words).toContain('Cause');
});

test('a faulty template is named by file and key when it is read', () => {
  const folder = folderWith({ 'en.yaml': 'a:\n  b: "{{ open"\n' });
  expect(() => loadMessages(folder, 'en')).toThrow(/en\.yaml: a\.b: /);
  expect(() => loadMessages(folderWith({ 'en.yaml': 'a: [1]' }), 'en')).toThrow(/a\.0 must be a text or a map/);
});

test('a key that no language has is a bug', () => {
  expect(() => loadMessages('templates/messages', 'en').say('label.nothing')).toThrow('No message label.nothing');
});

test('data is inserted, never run', () => {
  const messages = loadMessages('templates/messages', 'en');
  expect(messages.say('heading.escalation', { title: '{{ 1 | plus: 1 }}' })).toBe(
    'Escalation draft: {{ 1 | plus: 1 }}',
  );
});

test('every text of the catalogue is said somewhere', async () => {
  const said = new Set<string>();
  const messages = loadMessages('templates/messages', 'en');
  const recording: Messages = {
    ...messages,
    say(key, values) {
      said.add(key);
      return messages.say(key, values);
    },
  };
  const variants = [
    ...Object.values(views).map((view) => view()),
    incidentView({
      incident: incident({ severity: 'info', progress: { cloud: 'failed', platform: 'read', app: 'read' } }),
      verdict: null,
    }),
    incidentView({
      incident: incident({ severity: 'none', truncatedAlerts: 3 }),
      rejected: Array(9).fill('no labels'),
      pageUrl: null,
    }),
    incidentView({
      formerOwner: 'app',
      mode: 'page',
      routing: { ...views.platform().routing!, party: 'platform team' },
    }),
    incidentView({
      routing: null,
      verdict: verdict({ owner: 'undetermined', confidence: 'medium', missing: [], nextSteps: [] }),
    }),
    incidentView({ routing: null, formerOwner: 'undetermined' }),
    incidentView({ readings: { platform: reading('platform', { gaps: [{ missing: 'm', fix: 'f' }] }) } }),
    incidentView({
      incident: incident({ title: 'x'.repeat(200) }),
      alerts: [
        storedAlert(),
        storedAlert({ annotations: { runbook_url: 'x:y' }, generatorURL: `http://p/${'y'.repeat(1900)}` }),
      ],
    }),
    incidentView({
      verdict: verdict({
        layers: [{ layer: 'cloud', status: 'implicated', because: 'b' }],
        evidence: (['log', 'probe', 'metrics', 'cloudwatch', 'alert'] as const).map((source) =>
          evidence({ source, layer: 'cloud' }),
        ),
      }),
    }),
    incidentView({ verdict: verdict({ layers: [{ layer: 'app', status: 'implicated', because: 'b' }] }) }),
    incidentView({ verdict: verdict({ evidence: Array(40).fill(evidence({ text: 'z'.repeat(3000) })) }) }),
    incidentView({ incident: incident({ assignedTo: 'U0ALICE01', resolvedBy: 'console' }), handOff: handOff() }),
    incidentView({ handOff: handOff({ corrects: true }) }),
    incidentView({ formerState: 'expected' }),
    { ...views.over(), formerState: 'expected' as const },
    incidentView({
      verdict: verdict({ layers: [{ layer: 'app', status: 'unknown', missing: 'm', fix: 'f', silent: true }] }),
      escalation: {
        audience: 'platform',
        title: 'T',
        body: Array(2000)
          .fill(`line ${'z'.repeat(30)}`)
          .join('\n'),
        incomplete: [],
      },
    }),
    incidentView({ silences: [silence()] }),
    ...['2026-11-20T08:30:00Z', '2026-11-22T08:30:00Z', '2026-11-20T10:30:00Z'].map((resolvedAt) =>
      incidentView({
        incident: incident({ status: 'resolved', resolvedAt }),
        trail: [...Array(13).fill(act()), ...Object.keys(parse(english).act).map((action) => act({ action }))],
      }),
    ),
  ];
  for (const view of variants) renderThread(view, recording);
  const context = { messages: recording, teams: [], actor: 'U0ALICE01' };
  for (const form of await loadForms('handlers/views'))
    formView(form, context, { incidentId: 'incident', channel: 'C1', threadTs: null });
  renderWithdrawn(incidentView(), 'closing', recording);
  expect(renderWithdrawn(incidentView(), 'layer-app', recording)).toMatchObject({
    slot: 'layer-app',
    text: expect.stringContaining('no longer'),
  });
  // Said by the sender and by the buttons.
  const elsewhere = [
    'more.refused',
    'feedback.runningAlready',
    'feedback.failed',
    'feedback.formNotOpened',
    ...refusals.map((refusal) => `refusal.${refusal}`),
  ];
  const unsaid = keysOf(parse(english)).filter(
    (key) => !said.has(key) && !elsewhere.includes(key) && !/^(command|answer)\./.test(key),
  );
  expect(unsaid).toEqual([]);
});

test('every answer of the catalogue is one that some command gives', () => {
  const sources = ['handlers/commands', 'src/commands', 'src/slack']
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join();
  const { command, answer } = parse(english) as Record<string, Record<string, string>>;
  const ungiven = Object.keys(answer!).filter(
    (key) => !sources.includes(`'answer.${key}'`) && !sources.includes(`'${key}'`),
  );
  expect(ungiven).toEqual([]);
  const names = readdirSync('handlers/commands').map((file) => file.replace('.ts', ''));
  expect(Object.keys(command!).sort()).toEqual(names.sort());
});
