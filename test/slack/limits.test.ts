import { expect, test } from 'vitest';
import { assertFits, type Block, costOf, fitParts, limitProblems, limits } from '../../src/slack/limits.ts';

const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
const header = (text: string): Block => ({ type: 'header', text: { type: 'plain_text', text, emoji: false } });
const context = (count: number): Block => ({
  type: 'context',
  elements: Array.from({ length: count }, () => ({ type: 'mrkdwn' as const, text: 'x' })),
});
const button = (label: string, value: string): Block => ({
  type: 'actions',
  elements: [{ type: 'button', action_id: 'a', text: { type: 'plain_text', text: label }, value }],
});

test('every limit is met at its edge and broken one beyond', () => {
  const edges: [Block[], string, Block[]][] = [
    [[header('x'.repeat(150))], 'header', [header('x'.repeat(151))]],
    [[header('𝕏'.repeat(150))], 'header', [header('𝕏'.repeat(151))]],
    [[section('x'.repeat(3000))], 'section text', [section('x'.repeat(3001))]],
    [[context(10)], 'context elements', [context(11)]],
    [[button('x'.repeat(75), 'v')], 'button text', [button('x'.repeat(76), 'v')]],
    [[button('x', 'v'.repeat(2000))], 'button value', [button('x', 'v'.repeat(2001))]],
    [Array(50).fill({ type: 'divider' }), 'blocks, at most', Array(51).fill({ type: 'divider' })],
    [[section('x')], 'empty', [section('')]],
    [
      [section('x'.repeat(3000)), section('x'.repeat(3000)), section('x'.repeat(1900))],
      'characters in all',
      [section('x'.repeat(3000)), section('x'.repeat(3000)), section('<'.repeat(600))],
    ],
  ];
  for (const [good, problem, bad] of edges) {
    expect(limitProblems(good, 'text'), problem).toEqual([]);
    expect(limitProblems(bad, 'text').join('; ')).toContain(problem);
  }
  expect(limitProblems([], 'x'.repeat(4001)).join()).toContain('text has 4001 characters');
  expect(limitProblems([], '').join()).toContain('text is empty');
});

test('assertFits names all problems at once', () => {
  expect(() => assertFits([header('x'.repeat(151)), section('')], 'text')).toThrow(/blocks\[0\].*blocks\[1\]/);
});

test('blocks that Slack refuses in messages are refused here', () => {
  expect(limitProblems([{ type: 'alert' } as unknown as Block], 'text')[0]).toContain('alert');
});

test('parts that do not fit are counted in a line, and the tail stays', () => {
  const parts = Array.from({ length: 12 }, () => [section('x'.repeat(1000))]);
  const blocks = fitParts(parts, [section('tail')], (count) => section(`${count} left`), 100);
  expect(blocks.at(-1)).toEqual(section('tail'));
  expect(blocks.at(-2)).toEqual(section('5 left'));
  expect(blocks).toHaveLength(9);
  expect(blocks.reduce((sum, block) => sum + costOf(block), 100)).toBeLessThanOrEqual(limits.message);
});

test('too many blocks are cut by count as well', () => {
  const parts = Array.from({ length: 70 }, () => [section('x')]);
  const blocks = fitParts(parts, [section('tail')], (count) => section(`${count} left`), 0);
  expect(blocks).toHaveLength(50);
  expect(blocks.at(-2)).toEqual(section('22 left'));
});

test('what fits is left alone', () => {
  const blocks = fitParts([[section('a')], [section('b')]], [section('c')], () => section('never'), 0);
  expect(blocks).toEqual([section('a'), section('b'), section('c')]);
});
