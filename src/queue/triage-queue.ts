import { DelayedError, type Job } from 'bullmq';
import { type Layer, layers } from '../domain/layer.ts';
import { StorageUnavailable, type TriageQueue } from '../incidents/ports.ts';
import { connect, type QueueBackend } from './connect.ts';
import { type DeadJob, flowOf, type JobData, jobId, layerQueue, toDeadJob, verdictQueue } from './jobs.ts';

export interface QueueOptions {
  backend: QueueBackend;
  /** A lost connection and the like; BullMQ reconnects by itself. */
  onError: (error: Error) => void;
  /** A job whose worker died is given to another after this time. */
  lockMs?: number;
  /** Pause before the second attempt; each further one is twice as long. */
  backoffMs?: number;
  /** How long a question to the queue may take, and at the end the farewell of a worker without a job. */
  answerMs?: number;
}

export interface TriageHandlers {
  layer(incidentId: string, run: number, layer: Layer): Promise<void>;
  verdict(incidentId: string, run: number): Promise<void>;
}

export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  dead: number;
}

/** Each question rejects when the queue's server does not answer in time. */
export interface Queue extends TriageQueue {
  /** Starts to work on jobs; `concurrency` bounds the layer jobs, which do I/O, of this process. */
  work(handlers: TriageHandlers, concurrency: number): void;
  /** Newest first. */
  deadJobs(limit: number): Promise<DeadJob[]>;
  counts(): Promise<QueueCounts>;
  /** Lets the jobs under way finish, then disconnects. */
  close(): Promise<void>;
}

const verdictConcurrency = 2;
/** A job may lose its worker this often before it counts as one that kills workers. */
const maxStalledCount = 5;

/** The queue of triages. The records are the truth: whatever is lost here is added again by the relay. */
export async function createQueue(options: QueueOptions): Promise<Queue> {
  const { backend, onError, lockMs = 10_000, backoffMs = 1_000, answerMs = 5_000 } = options;
  const { bullmq, base, disconnect } = await connect(backend, onError);
  const flows = new bullmq.FlowProducer(base);
  const layerJobs = new bullmq.Queue<JobData>(layerQueue, base);
  const verdictJobs = new bullmq.Queue<JobData>(verdictQueue, base);
  const queues = [layerJobs, verdictJobs];
  flows.on('error', onError);
  for (const queue of queues) queue.on('error', onError);
  const inTime = <T>(answer: Promise<T>) => within(answerMs, answer);
  const workers: { close(): Promise<void> }[] = [];
  let working = 0;

  const startWorker = (queue: string, concurrency: number, run: (data: JobData) => Promise<void>) => {
    const process = async (job: Job<JobData>, token?: string) => {
      working++;
      try {
        await run(job.data);
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error;
        // The database is away: no attempt of the job's own is spent on that.
        await job.moveToDelayed(Date.now() + backoffMs, token);
        throw new DelayedError();
      } finally {
        working--;
      }
    };
    const settings = { concurrency, lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount };
    const worker = new bullmq.Worker<JobData>(queue, process, { ...base, ...settings });
    worker.on('error', onError);
    workers.push(worker);
  };

  const addTriage: Queue['addTriage'] = async (incidentId, run) => {
    const verdict = await verdictJobs.getJob(jobId(incidentId, run, null));
    if (verdict) return (await verdict.isFailed()) ? { dead: verdict.failedReason } : 'present';
    // Left by a run whose verdict job was lost: BullMQ would wait for them, and they have ended.
    for (const layer of layers) {
      const child = await layerJobs.getJob(jobId(incidentId, run, layer));
      if (await child?.isFailed()) await child?.remove();
    }
    await flows.add(flowOf(incidentId, run, backoffMs));
    return 'added';
  };

  return {
    addTriage: (incidentId, run) => inTime(addTriage(incidentId, run)),

    work(handlers, concurrency) {
      startWorker(layerQueue, concurrency, ({ incidentId, run, layer }) => handlers.layer(incidentId, run, layer!));
      startWorker(verdictQueue, verdictConcurrency, ({ incidentId, run }) => handlers.verdict(incidentId, run));
    },

    async deadJobs(limit) {
      const failed = await inTime(Promise.all(queues.map((queue) => queue.getFailed(0, limit - 1))));
      const newestFirst = failed
        .flat()
        .map(toDeadJob)
        .sort((a, b) => b.at.localeCompare(a.at));
      return newestFirst.slice(0, limit);
    },

    async counts() {
      const states = ['waiting', 'active', 'delayed', 'failed'] as const;
      const all = await inTime(Promise.all(queues.map((queue) => queue.getJobCounts(...states))));
      const sum = (state: string) => all.reduce((total, counts) => total + (counts[state] ?? 0), 0);
      return { waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed'), dead: sum('failed') };
    },

    async close() {
      const closed = Promise.all(workers.map((worker) => worker.close()));
      // Without its server a worker never finishes closing; its jobs are bounded and do.
      while (!(await settles(closed, answerMs)) && working > 0);
      await settles(Promise.all([flows, ...queues].map((one) => one.close())), answerMs);
      disconnect();
    },
  };
}

/** Whether the promise settles within the time. */
const settles = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  within(ms, promise).then(
    () => true,
    (error) => !(error instanceof NoAnswer),
  );

class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new NoAnswer(`The queue did not answer within ${ms} ms. Check that it runs and that REDIS_URL reaches it.`),
    );
  }, ms);
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
