import { type Loop, startLoop } from './loop.ts';
import type { IncidentStore, TriageQueue } from './ports.ts';

/** Due runs that are looked after in one pass; later ones follow as these get their verdicts. */
const dueAtOnce = 500;

export interface RelayOptions {
  store: IncidentStore;
  queue: TriageQueue;
  /** What happens to a run whose verdict job failed for good. */
  giveUp: (incidentId: string, run: number, reason: string) => Promise<void>;
  now: () => string;
  pollMs?: number;
  onError: (error: unknown) => void;
}

/**
 * Turns due runs into jobs, and adds jobs again that the queue has lost. Wake it when a run becomes due; without, it
 * finds out at its next poll.
 */
export function startRelay({ store, queue, giveUp, now, pollMs = 3_000, onError }: RelayOptions): Loop {
  const step = async () => {
    await store.startRechecks(now());
    for (const { incidentId, run } of await store.dueRuns(dueAtOnce)) {
      const state = await queue.addTriage(incidentId, run);
      if (typeof state === 'object') await giveUp(incidentId, run, state.dead);
    }
    return false;
  };
  return startLoop(step, { pollMs, onError });
}
