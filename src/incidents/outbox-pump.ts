import type { OutboxRow, SendResult } from '../domain/message.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Outbox, Sender } from './ports.ts';

export interface PumpOptions {
  outbox: Outbox;
  sender: Sender;
  now: () => string;
  pollMs?: number;
  /** Messages that are sent at once, of as many incidents. */
  concurrency?: number;
  /** Storage that is away, or a bug of the sender. The pump goes on. */
  onError: (error: unknown) => void;
}

/** Sends what the outbox holds. Wake it on a change of the outbox; without, it finds work at its next poll. */
export function startOutboxPump(options: PumpOptions): Loop {
  const { outbox, now, pollMs = 1_000, concurrency = 8, onError } = options;
  const underWay = new Set<Promise<void>>();

  const loop = startLoop(
    async () => {
      const free = concurrency - underWay.size;
      if (free === 0) return false;
      const rows = await outbox.claim(free, now());
      for (const row of rows) {
        const delivery = deliver(row, options)
          .catch(onError)
          .finally(() => {
            underWay.delete(delivery);
            loop.wake();
          });
        underWay.add(delivery);
      }
      return rows.length > 0;
    },
    { pollMs, onError },
  );

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      await Promise.all(underWay);
    },
  };
}

async function deliver(row: OutboxRow, options: PumpOptions): Promise<void> {
  const { outbox, now, onError } = options;
  const { result, revision } = await attempt(row, options.sender).catch((error): Attempt => {
    onError(error);
    const reason = error instanceof Error ? error.message : String(error);
    return { result: { outcome: 'uncertain', reason }, revision: row.revision };
  });
  await outbox.settle({ ...row, revision }, result, now());
}

interface Attempt {
  result: SendResult;
  /** What the message shows if it was sent. */
  revision: number;
}

/**
 * A post that may have arrived is looked for first. What is found counts as sent with the revision it shows; newer
 * content then follows as an edit, like any other. An edit that may have arrived is simply made again.
 */
async function attempt(row: OutboxRow, sender: Sender): Promise<Attempt> {
  const found = row.ts === null && row.uncertainSince !== null ? await sender.find(row) : null;
  if (!found) return { result: await sender.send(row), revision: row.revision };
  const { channel, ts, revision } = found;
  return { result: { outcome: 'sent', channel, ts }, revision };
}
