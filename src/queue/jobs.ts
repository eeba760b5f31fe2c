import type { FlowJob, Job } from 'bullmq';
import { type Layer, layers } from '../domain/layer.ts';

/** Two queues, so that the verdict of one incident does not wait behind the reads of all others. */
export const layerQueue = 'layers';
export const verdictQueue = 'verdicts';

export interface JobData {
  incidentId: string;
  run: number;
  /** Null: the verdict job. */
  layer: Layer | null;
}

/** A job that failed for good. */
export interface DeadJob extends JobData {
  id: string;
  reason: string;
  attempts: number;
  /** ISO 8601. */
  at: string;
}

const attempts = 4;
const keepDead = { age: 7 * 24 * 60 * 60, count: 1_000 };

/** BullMQ refuses ids with `:` and ids of digits alone. */
export const jobId = (incidentId: string, run: number, layer: Layer | null): string =>
  `${incidentId}-${run}-${layer ?? 'verdict'}`;

/** The verdict job, which waits for one job per layer. */
export function flowOf(incidentId: string, run: number, backoffMs: number): FlowJob {
  const opts = {
    attempts,
    backoff: { type: 'exponential', delay: backoffMs },
    // A finished id would make BullMQ ignore the job when it must be added again.
    removeOnComplete: true,
    removeOnFail: keepDead,
  };
  return {
    queueName: verdictQueue,
    name: 'verdict',
    data: { incidentId, run, layer: null } satisfies JobData,
    opts: { ...opts, jobId: jobId(incidentId, run, null) },
    children: layers.map((layer) => ({
      queueName: layerQueue,
      name: layer,
      data: { incidentId, run, layer } satisfies JobData,
      // A layer that cannot be read is unknown; the verdict says so.
      opts: { ...opts, jobId: jobId(incidentId, run, layer), ignoreDependencyOnFailure: true },
    })),
  };
}

export const toDeadJob = (job: Job<JobData>): DeadJob => ({
  id: job.id!,
  ...job.data,
  reason: job.failedReason,
  attempts: job.attemptsMade,
  at: new Date(job.finishedOn ?? job.timestamp).toISOString(),
});
