import { z } from 'zod';
import type { CloudReader } from '../../triage/ports.ts';
import { readChecked } from '../kubernetes/snapshot-files.ts';
import { wellFormed } from '../well-formed.ts';
import { awsFields } from './field-types.ts';
import { gapForDenied } from './gaps.ts';

/** A call whose recorded answer is no answer was not recorded. */
const answersFile = z
  .record(z.string(), z.unknown())
  .transform((answers) => new Map(Object.entries(answers).filter(([, answer]) => isAnswer(answer))));

const isAnswer = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && !Array.isArray(answer);

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
  const answers = (await readChecked(answersPath, answersFile)) ?? new Map<string, unknown>();
  const recorded = (await readChecked(cloudWatchPath, cloudWatchFile))?.series;
  let calls = 0;
  return {
    async call(operation) {
      calls += 1;
      if (!answers.has(operation)) return { ok: false, gap: gapForDenied(operation) };
      const answer = wellFormed(answers.get(operation), awsFields);
      return { ok: true, value: { call: operation, answer }, complete: true };
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
