import { expect, test } from 'vitest';
import {
  cost,
  escapeMrkdwn,
  legible,
  legibleLines,
  truncate,
  webAddress,
  withoutMarkup,
} from '../../src/slack/legible.ts';
import { hostileStrings } from '../fakes/hostile.ts';

test('controls, bidi overrides and zero-width characters become visible marks', () => {
  expect(legible('admin\u202egnp.exe')).toBe('admin⟨U+202E⟩gnp.exe');
  expect(legible('a\u200bb\u0007c')).toBe('a⟨U+200B⟩b⟨U+0007⟩c');
  expect(legible('tag\u{e0041}')).toBe('tag⟨U+E0041⟩');
});

test('colour codes of a terminal are left out, line breaks kept where lines are shown', () => {
  expect(legibleLines('\u001b[31mred\u001b[0m\r\nnext')).toBe('red\nnext');
  expect(legible('red\nnext\t.')).toBe('red next .');
});

test('ordinary text of any script stays as it is', () => {
  for (const text of ['Pod media/preview_2 is down', '家族 العربية', 'ü ñ ø', '🔴']) expect(legible(text)).toBe(text);
});

test('the three escapes are applied once', () => {
  expect(escapeMrkdwn('<a & b>')).toBe('&lt;a &amp; b&gt;');
  expect(escapeMrkdwn('&lt;')).toBe('&amp;lt;');
});

test('what mrkdwn cannot escape gets look-alikes; names keep their underscores', () => {
  expect(withoutMarkup('*b* ~s~ `c`')).toBe('∗b∗ ∼s∼ ˋcˋ');
  expect(withoutMarkup('my_pod_name _it_')).toBe('my_pod_name ˍitˍ');
  expect(withoutMarkup('https://evil.example')).not.toContain('://');
  expect(withoutMarkup(':skull: 10.0.0.1:8080')).toBe('∶skull: 10.0.0.1:8080');
});

test('truncation counts what Slack counts and never splits a character', () => {
  expect(truncate('<<<', 8)).toEqual({ text: '<<', cut: 1 });
  expect(truncate('𝕏𝕏𝕏', 2)).toEqual({ text: '𝕏𝕏', cut: 1 });
  for (const text of hostileStrings) {
    const { text: kept, cut } = truncate(text.toWellFormed(), 100);
    expect(cost(kept)).toBeLessThanOrEqual(100);
    expect(kept.isWellFormed()).toBe(true);
    expect([...kept].length + cut).toBe([...text.toWellFormed()].length);
  }
});

test('only plain http and https addresses become links, encoded', () => {
  expect(webAddress('https://a.example/x|y>z?q=<b> c')).toBe('https://a.example/x%7Cy%3Ez?q=%3Cb%3E%20c');
  expect(webAddress('http://prometheus:9090/graph?g0.expr=up%3D%3D0')).toBe(
    'http://prometheus:9090/graph?g0.expr=up%3D%3D0',
  );
  const refused = [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'slack://open',
    'https://slack.com@evil.example/',
    'http://user:secret@host/',
    'not a url',
    '',
    `https://a.example/${'x'.repeat(3000)}`,
  ];
  for (const address of refused) expect(webAddress(address), address).toBeNull();
});
