import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import { calibration } from '../../src/domain/calibration.ts';
import { scoreCase, summarise } from '../../src/eval/score.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { loadRules } from '../../src/rules/load.ts';
import { triage } from '../../src/triage/triage.ts';

const folder = new URL('../cases/', import.meta.url).pathname;

describe('all incident cases', async () => {
  const ruleSet = await loadRules();
  const results = await Promise.all(
    (await readdir(folder)).sort().map(async (id) => {
      const snapshot = await openSnapshot(`${folder}/${id}`);
      const target = alertTarget(await readAlerts(`${folder}/${id}/alert.json`), snapshot.meta.cluster);
      const result = await triage(ruleSet, target, snapshot);
      return { id, result, scored: scoreCase(id, result.verdict, snapshot.meta.expected!) };
    }),
  );
  const summary = summarise(results.map((entry) => entry.scored));

  test('no rule breaks on any of them', () => {
    expect(
      results.flatMap(({ id, result }) =>
        result.judgement.broken.map((entry) => `${id}: ${entry.rule} ${entry.message}`),
      ),
    ).toEqual([]);
  });

  test('the right owner in at least three of four, and never a wrong page at high confidence', () => {
    expect(summary.ownerAccuracy).toBeGreaterThanOrEqual(0.75);
    expect(summary.wrongPagesAtHigh).toBe(0);
  });

  test('the README says how often it was right', async () => {
    const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
    const row = `| ${summary.cases} | ${percent(summary.ownerAccuracy)} | ${summary.wrongPagesAtHigh} | ${summary.vendorFalseAlarms} | ${percent(summary.evidenceRecall)} |`;
    expect(await readFile(new URL('../../README.md', import.meta.url), 'utf8')).toContain(row);
  });

  test('README and incident page say how often each confidence was right', async () => {
    expect(calibration, 'update src/domain/calibration.ts').toEqual(summary.calibration);
    const words = Object.entries(summary.calibration).map(([level, { right, of }]) => `${level} ${right} of ${of}`);
    expect(await readFile(new URL('../../README.md', import.meta.url), 'utf8')).toContain(words.join(', '));
  });

  test('the same facts give the same verdict, byte for byte', async () => {
    for (const { id, result } of results.slice(0, 12)) {
      const snapshot = await openSnapshot(`${folder}/${id}`);
      const target = alertTarget(await readAlerts(`${folder}/${id}/alert.json`), snapshot.meta.cluster);
      const again = await triage(ruleSet, target, snapshot);
      expect(JSON.stringify(again.verdict), id).toBe(JSON.stringify(result.verdict));
    }
  });
});
