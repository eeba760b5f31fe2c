import { expect, test } from 'vitest';
import { isCommand, shellWord } from '../../src/domain/shell.ts';

test('a word for the shell reads back as itself', () => {
  expect(shellWord('Deployment/preview')).toBe('Deployment/preview');
  expect(shellWord("x; rm -rf / 'y'")).toBe("'x; rm -rf / '\\''y'\\'''");
});

test('a command is told from a sentence', () => {
  expect(isCommand('kubectl get pods -A')).toBe(true);
  expect(isCommand('allow them to the read role of this account')).toBe(false);
  expect(isCommand('set PROMETHEUS_URL, or prometheusUrl of the cluster')).toBe(false);
});
