import type { Records, RecordsChange } from './incidents/ports.ts';

/** Undo what a start has done, the last first. */
export type Closers = (() => Promise<unknown>)[];

/** What wakes at a change of the records, by its topic. */
interface Wakes {
  run?: () => void;
  outbox?: () => void;
  any?: (change: RecordsChange) => void;
}

/** Listens until the process closes. */
export const wakeOn = async (records: Records, closers: Closers, wakes: Wakes): Promise<void> => {
  const unlisten = await records.listen((change) => {
    wakes[change.topic]?.();
    wakes.any?.(change);
  });
  closers.push(unlisten);
};
