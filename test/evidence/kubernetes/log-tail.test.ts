import { describe, expect, it } from 'vitest';
import { tailOf } from '../../../src/evidence/kubernetes/log-tail.ts';

const longest = (text: string): string => tailOf(text, 10, 1_000_000).value.split('\n')[0]!;

describe('a log line', () => {
  it('stays whole up to 4,096 characters', () => {
    const line = `${'x'.repeat(4095)} `;
    expect(longest(`${line}\nnext`)).toBe(line);
  });

  it('is cut between words where it is longer, so that no half of a secret is left', () => {
    const line = `${'word '.repeat(815)}ghp_${'a'.repeat(36)} ${'x'.repeat(100_000)}`;
    expect(longest(line)).toBe(`${'word '.repeat(815).trimEnd()}…`);
  });

  it('is cut all the same where it has no spaces, and never inside a character', () => {
    const cut = longest('x𝕏'.repeat(50_000));
    expect(cut.length).toBeLessThan(4096);
    expect(cut.isWellFormed()).toBe(true);
  });
});
