import { expect, test } from 'vitest';
import { blocksToHtml } from '../../src/console/blocks.ts';

const show = (...blocks: unknown[]): string => blocksToHtml(blocks).markup;
const text = (value: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: value }] }],
});

test('text from outside stays text', () => {
  const shown = show(text('<img src=x onerror=alert(1)> & "quotes"'));
  expect(shown).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&quot;');
  expect(shown).not.toContain('<img');
});

test('mrkdwn shows code, bold, links, dates and mentions, each escaped once', () => {
  const shown = show({
    type: 'section',
    text: {
      type: 'mrkdwn',
      text: '*bold* `a &lt; b` <https://example.com/?a=1&amp;b=2|page> <!date^1795160400^{time}|08:20 UTC> <!subteam^S1>',
    },
  });
  expect(shown).toContain('<b>bold</b>');
  expect(shown).toContain('<code>a &lt; b</code>');
  expect(shown).toContain('href="https://example.com/?a=1&amp;b=2"');
  expect(shown).toMatch(/<time datetime="2026-11-20T[^"]+">2026-11-20 /);
  expect(shown).toContain('<span class="mention">!subteam^S1</span>');
});

test('a link that is not http becomes plain text', () => {
  const link = (url: string) => ({
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: [{ type: 'link', url, text: 'click' }] }],
  });
  expect(show(link('javascript:alert(1)'))).not.toContain('href');
  expect(show(link('https://example.com'))).toContain('href="https://example.com"');
});

test('a button carries its action, a link button its address', () => {
  const button = {
    type: 'button',
    action_id: 'acknowledge',
    value: 'i1 1.0',
    text: { type: 'plain_text', text: 'Acknowledge' },
  };
  const shown = show({ type: 'actions', elements: [button] });
  expect(shown).toContain('data-action="acknowledge"');
  expect(shown).toContain('data-value="i1 1.0"');
});

test('an unknown block is shown, never dropped', () => {
  expect(show({ type: 'video', title: '<b>' })).toContain('&quot;type&quot;:&quot;video&quot;');
});
