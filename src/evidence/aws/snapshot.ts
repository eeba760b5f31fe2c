import { z } from 'zod';
import type { CloudReader } from '../../triage/ports.ts';
import { readChecked } from '../kubernetes/snapshot-files.ts';
import { gapForDenied } from './gaps.ts';

const answersFile = z.record(z.string(), z.unknown());

const cloudWatchFile = z.object({
  series: z.array(
    z.object({
      namespace: z.string(),
      metric: z.string(),
      dimensions: z.record(z.string(), z.string()).default({}),
      stat: z.string(),
      period: z.number().positive(),
      points: z.array(z.tuple([z.iso.datetime({ offset: true }), z.number()])),
    }),
  ),
});

/**
 * Recorded cloud answers of a snapshot; null where it has none. A call that is not recorded was not allowed.
 * The question is not looked at: an answer was recorded for the one that was asked.
 */
export async function cloudSnapshot(
  answersPath: string | undefined,
  cloudWatchPath: string | undefined,
): Promise<CloudReader | null> {
  if (!answersPath && !cloudWatchPath) return null;
  const answers = (await readChecked(answersPath, answersFile)) ?? {};
  const recorded = (await readChecked(cloudWatchPath, cloudWatchFile))?.series;
  let calls = 0;
  return {
    async call(operation) {
      calls += 1;
      if (!Object.hasOwn(answers, operation)) return { ok: false, gap: gapForDenied(operation) };
      return { ok: true, value: { call: operation, answer: answers[operation] }, complete: true };
    },
    async metrics(queries) {
      calls += 1;
      if (!recorded) return { ok: false, gap: gapForDenied('cloudwatch.getMetricData') };
      const value = queries.flatMap(({ namespace, metric, start, end }) =>
        recorded
          .filter((series) => series.namespace === namespace && series.metric === metric)
          .map(({ period, points, ...series }) => ({
            ...series,
            periodSeconds: period,
            points: points.filter(([time]) => Date.parse(time) >= start * 1000 && Date.parse(time) <= end * 1000),
          }))
          .filter((series) => series.points.length > 0),
      );
      return { ok: true, value, complete: true };
    },
    get calls() {
      return calls;
    },
  };
}
