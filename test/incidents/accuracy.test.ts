import { describe, expect, it } from 'vitest';
import { accuracyOf, type Judged } from '../../src/incidents/accuracy.ts';

const judged = (more: Partial<Judged> = {}): Judged => ({
  owner: 'app',
  rule: 'memory-leak',
  confidence: 'high',
  corrected: false,
  acknowledgedAfterMs: null,
  handedOverAfterMs: null,
  ...more,
});

describe('accuracy', () => {
  it('counts what was corrected, per owner, confidence and rule', () => {
    const result = accuracyOf([
      judged(),
      judged({ corrected: true, handedOverAfterMs: 60_000 }),
      judged({ owner: 'platform', rule: 'node-pressure', confidence: 'medium', acknowledgedAfterMs: 120_000 }),
      judged({ owner: 'platform', rule: null, acknowledgedAfterMs: 30_000 }),
      judged({ acknowledgedAfterMs: 300_000 }),
    ]);
    expect(result.all).toEqual({ name: 'all', verdicts: 5, corrected: 1 });
    expect(result.byOwner).toEqual([
      { name: 'app', verdicts: 3, corrected: 1 },
      { name: 'platform', verdicts: 2, corrected: 0 },
    ]);
    expect(result.byConfidence.map(({ name, corrected }) => [name, corrected])).toEqual([
      ['high', 1],
      ['medium', 0],
    ]);
    expect(result.correctedRules).toEqual([{ name: 'memory-leak', verdicts: 3, corrected: 1 }]);
    expect(result.medianAcknowledgedAfterMs).toBe(120_000);
    expect(result.medianHandedOverAfterMs).toBe(60_000);
  });

  it('of nothing is nothing', () => {
    expect(accuracyOf([])).toMatchObject({ all: { verdicts: 0 }, byOwner: [], medianAcknowledgedAfterMs: null });
  });
});
