import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { capture } from '../../src/cli/capture.ts';
import { alertTarget, readAlerts } from '../../src/cli/target.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import { openSnapshot } from '../../src/evidence/kubernetes/snapshot.ts';
import { prometheusReader } from '../../src/evidence/prometheus/live.ts';
import { writeFolder } from '../../src/evidence/snapshot-writer/write.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { MetricsReader } from '../../src/triage/ports.ts';
import { triage } from '../../src/triage/triage.ts';
import { prometheusInstalled, startPrometheus } from '../services/prometheus.ts';

const rules = await loadRules();

const judgement = ({ state, owner, boundary, rule, confidence }: Verdict) => ({
  state,
  owner,
  boundary,
  rule,
  confidence,
});

describe.skipIf(!prometheusInstalled())('incidents that only metrics explain, with a real Prometheus', () => {
  it.each(['node-count-doubled-a', 'half-pending-half-oom-a', 'nat-traffic-jump-b', 'secured-pods-slow-lookups'])(
    '%s: the verdict of its file',
    async (id) => {
      const dir = join('test/cases', id);
      const snapshot = await openSnapshot(dir);
      const target = alertTarget(await readAlerts(join(dir, 'alert.json')), snapshot.meta.cluster);
      const judged = async (metrics: MetricsReader | null) =>
        judgement((await triage(rules, target, { ...snapshot, metrics })).verdict);
      const prometheus = await startPrometheus(join(dir, 'metrics.om'));
      try {
        let queries = 0;
        // Called before each request.
        const sign = async () => {
          queries += 1;
          return {};
        };
        const live = await judged(prometheusReader({ url: prometheus.url, sign }));
        // Two ranges of three layers, and what the application measures of itself: its names, and two ranges of those.
        expect(queries).toBeLessThanOrEqual(9);
        expect(live).toEqual(await judged(snapshot.metrics));
        expect(live).not.toEqual(await judged(null));
      } finally {
        await prometheus.stop();
      }
    },
  );

  it('serves the metrics of a snapshot that was taken from it', async () => {
    const dir = 'test/cases/node-count-doubled-a';
    const out = await mkdtemp(join(tmpdir(), 'faultline-taken-'));
    const snapshot = await openSnapshot(dir);
    const target = alertTarget(await readAlerts(join(dir, 'alert.json')), snapshot.meta.cluster);
    const original = await startPrometheus(join(dir, 'metrics.om'));
    try {
      const readers = { ...snapshot, metrics: prometheusReader({ url: original.url }) };
      await writeFolder(out, (await capture('taken', target, readers)).files);
      const copy = await startPrometheus(join(out, 'metrics.om'));
      try {
        const taken = { ...(await openSnapshot(out)), metrics: prometheusReader({ url: copy.url }) };
        const { verdict } = await triage(rules, target, taken);
        expect(judgement(verdict)).toEqual(judgement((await triage(rules, target, readers)).verdict));
        expect(verdict.rule).toBe('memory-leak');
      } finally {
        await copy.stop();
      }
    } finally {
      await Promise.all([original.stop(), rm(out, { recursive: true })]);
    }
  });
});
