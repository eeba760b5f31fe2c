import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  DelayedError,
  type FlowJob,
  type IQueueBackend,
  type Job,
  type PgPool,
  runMigrations,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import { type Layer, layers } from '../domain/layer.ts';
import { StorageUnavailable, type TriageQueue } from '../incidents/ports.ts';

export interface QueueOptions {
  /** Where the jobs live: a Redis, or the PostgreSQL of the records. */
  backend: { redisUrl: string } | { pool: PgPool };
  /** A lost connection and the like; BullMQ reconnects by itself. */
  onError: (error: Error) => void;
  /** A job whose worker died is given to another after this time. */
  lockMs?: number;
  /** Pause before the second attempt; each further one is twice as long. */
  backoffMs?: number;
}

export interface TriageHandlers {
  layer(incidentId: string, run: number, layer: Layer): Promise<void>;
  verdict(incidentId: string, run: number): Promise<void>;
}

export interface DeadJob {
  id: string;
  incidentId: string;
  run: number;
  /** Null: the verdict job. */
  layer: Layer | null;
  reason: string;
  attempts: number;
  /** When it failed for good, ISO 8601. */
  at: string;
}

export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  dead: number;
}

export interface Queue extends TriageQueue {
  /** Starts to work on jobs; `concurrency` bounds the layer jobs, which do I/O, of this process. */
  work(handlers: TriageHandlers, concurrency: number): void;
  deadJobs(limit: number): Promise<DeadJob[]>;
  counts(): Promise<QueueCounts>;
  /** Lets the jobs under way finish, then disconnects. */
  close(): Promise<void>;
}

interface JobData {
  incidentId: string;
  run: number;
  layer: Layer | null;
}

/** Two queues, so that the verdict of one incident does not wait behind the reads of all others. */
const layerQueue = 'layers';
const verdictQueue = 'verdicts';

const attempts = 4;
const verdictConcurrency = 2;
/** A job may lose its worker this often before it counts as one that kills workers. */
const maxStalledCount = 5;
const keepDead = { age: 7 * 24 * 60 * 60, count: 1_000 };

/** The queue of triages. The records are the truth: whatever is lost here is added again by the relay. */
export async function createQueue(options: QueueOptions): Promise<Queue> {
  const { lockMs = 10_000, backoffMs = 1_000, onError } = options;
  const { factory, producer, worker, disconnect } = await connect(options);
  const bullmq = withBackend(factory);
  const base = { connection: producer, prefix: 'faultline' };
  const flows = new bullmq.FlowProducer(base);
  const queues = {
    [layerQueue]: new bullmq.Queue<JobData>(layerQueue, base),
    [verdictQueue]: new bullmq.Queue<JobData>(verdictQueue, base),
  };
  flows.on('error', onError);
  for (const queue of Object.values(queues)) queue.on('error', onError);
  const workers: { close(): Promise<void> }[] = [];

  const startWorker = (queue: string, concurrency: number, run: (data: JobData) => Promise<void>) => {
    const process = (job: Job<JobData>, token?: string) =>
      run(job.data).catch(async (error) => {
        if (!(error instanceof StorageUnavailable)) throw error;
        // The database is away: no attempt of the job's own is spent on that.
        await job.moveToDelayed(Date.now() + backoffMs, token);
        throw new DelayedError();
      });
    const started = new bullmq.Worker<JobData>(queue, process, {
      connection: worker,
      prefix: base.prefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      maxStalledCount,
    });
    started.on('error', onError);
    workers.push(started);
  };

  return {
    async addTriage(incidentId, run) {
      const verdict = await queues[verdictQueue].getJob(jobId(incidentId, run, null));
      if (verdict) return (await verdict.isFailed()) ? { dead: verdict.failedReason } : 'present';
      // Left by a run whose verdict job was lost: BullMQ would wait for them, and they have ended.
      for (const layer of layers) {
        const child = await queues[layerQueue].getJob(jobId(incidentId, run, layer));
        if (await child?.isFailed()) await child?.remove();
      }
      await flows.add(flowOf(incidentId, run, backoffMs));
      return 'added';
    },

    work(handlers, concurrency) {
      startWorker(layerQueue, concurrency, ({ incidentId, run, layer }) => handlers.layer(incidentId, run, layer!));
      startWorker(verdictQueue, verdictConcurrency, ({ incidentId, run }) => handlers.verdict(incidentId, run));
    },

    async deadJobs(limit) {
      const failed = await Promise.all(Object.values(queues).map((queue) => queue.getFailed(0, limit - 1)));
      return failed
        .flat()
        .map(toDeadJob)
        .sort((a, b) => b.at.localeCompare(a.at))
        .slice(0, limit);
    },

    async counts() {
      const all = await Promise.all(
        Object.values(queues).map((queue) => queue.getJobCounts('waiting', 'active', 'delayed', 'failed')),
      );
      const sum = (state: string) => all.reduce((total, counts) => total + (counts[state] ?? 0), 0);
      return { waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed'), dead: sum('failed') };
    },

    async close() {
      await Promise.all(workers.map((one) => one.close()));
      await Promise.all([flows, ...Object.values(queues)].map((one) => one.close()));
      await disconnect();
    },
  };
}

/** BullMQ refuses ids with `:` and ids of digits alone. */
const jobId = (incidentId: string, run: number, layer: Layer | null): string =>
  `${incidentId}-${run}-${layer ?? 'verdict'}`;

function flowOf(incidentId: string, run: number, backoffMs: number): FlowJob {
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

const toDeadJob = (job: Job<JobData>): DeadJob => ({
  id: job.id!,
  ...job.data,
  reason: job.failedReason,
  attempts: job.attemptsMade,
  at: new Date(job.finishedOn ?? job.timestamp).toISOString(),
});

interface Connected {
  factory: BackendFactory<IQueueBackend, any>;
  producer: unknown;
  worker: unknown;
  disconnect: () => Promise<void>;
}

async function connect({ backend, onError }: QueueOptions): Promise<Connected> {
  if ('pool' in backend) {
    const client = await backend.pool.connect();
    try {
      await runMigrations(client);
    } finally {
      client.release();
    }
    return {
      factory: createPostgresBackend,
      producer: backend.pool,
      worker: backend.pool,
      // The pool belongs to the records.
      disconnect: async () => {},
    };
  }
  // Adding fails soon while Redis is away, and the relay tries again; a worker waits for ever, as BullMQ asks.
  const producer = new Redis(backend.redisUrl, { maxRetriesPerRequest: 3 });
  const worker = new Redis(backend.redisUrl, { maxRetriesPerRequest: null });
  for (const client of [producer, worker]) client.on('error', onError);
  return {
    factory: createRedisBackend,
    producer,
    worker,
    disconnect: async () => {
      producer.disconnect();
      worker.disconnect();
    },
  };
}
