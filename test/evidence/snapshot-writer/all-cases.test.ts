import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { capture } from '../../../src/cli/capture.ts';
import { alertTarget, readAlerts } from '../../../src/cli/target.ts';
import { verdictLine } from '../../../src/eval/lines.ts';
import { openSnapshot } from '../../../src/evidence/kubernetes/snapshot.ts';
import { writeFolder } from '../../../src/evidence/snapshot-writer/write.ts';
import { redact } from '../../../src/redaction/redact.ts';
import { loadRules } from '../../../src/rules/load.ts';
import { triage } from '../../../src/triage/triage.ts';

const cases = new URL('../../cases/', import.meta.url).pathname;
const rules = await loadRules();

const judged = async (dir: string) => {
  const snapshot = await openSnapshot(dir);
  const target = redact(alertTarget(await readAlerts(join(dir, 'alert.json')), snapshot.meta.cluster));
  return (await triage(rules, target, snapshot, redact)).verdict;
};

/** The whole verdict with its evidence. */
const withoutCounts = (line: Record<string, unknown>) => ({ ...line, apiCalls: 0, durationMs: 0 });

describe('the snapshot of a snapshot', async () => {
  it.each((await readdir(cases)).sort())('%s is judged alike', async (id) => {
    const dir = join(cases, id);
    const out = await mkdtemp(join(tmpdir(), 'faultline-copy-'));
    try {
      const snapshot = await openSnapshot(dir);
      const target = alertTarget(await readAlerts(join(dir, 'alert.json')), snapshot.meta.cluster);
      const alert = JSON.parse(await readFile(join(dir, 'alert.json'), 'utf8'));
      const { files } = await capture(id, target, snapshot, alert);
      await writeFolder(out, files);
      expect(withoutCounts(verdictLine(id, await judged(out), 0, 0))).toEqual(
        withoutCounts(verdictLine(id, await judged(dir), 0, 0)),
      );
    } finally {
      await rm(out, { recursive: true });
    }
  });
});
