import { expect, test } from 'vitest';
import { nearest, wordsOf } from '../../src/commands/words.ts';

test.each([
  ['ack 1a2b3c4d', { words: ['ack', '1a2b3c4d'], options: {} }],
  ['triage pod/web-1 -n shop', { words: ['triage', 'pod/web-1'], options: { n: 'shop' } }],
  ['list --owner=app —state resolved', { words: ['list'], options: { owner: 'app', state: 'resolved' } }],
  ['note "two words" ‘x “of curly” quotes', { words: ['note', 'two words', '‘x', 'of curly', 'quotes'], options: {} }],
  ['handoff app --wrong', { words: ['handoff', 'app'], options: { wrong: 'true' } }],
  ['list --wrong --owner app', { words: ['list'], options: { wrong: 'true', owner: 'app' } }],
  ['note "-n" is no option', { words: ['note', '-n', 'is', 'no', 'option'], options: {} }],
  ['   ', { words: [], options: {} }],
])('%s', (text, expected) => {
  expect(wordsOf(text)).toEqual(expected);
});

test('the nearest word is meant, unless none is near', () => {
  const names = ['ack', 'assign', 'resolve', 'reopen', 'list'];
  expect(nearest('resovle', names)).toBe('resolve');
  expect(nearest('akc', names)).toBe(null);
  expect(nearest('ak', names)).toBe('ack');
  expect(nearest('LIST', names)).toBe('list');
  expect(nearest('kubernetes', names)).toBeNull();
});
