import { expect, test } from 'vitest';
import { shellWord } from '../../src/domain/shell.ts';

test('a word for the shell reads back as itself', () => {
  expect(shellWord('Deployment/preview')).toBe('Deployment/preview');
  expect(shellWord("x; rm -rf / 'y'")).toBe("'x; rm -rf / '\\''y'\\'''");
});
