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

async function deliver(row: OutboxRow, { outbox, sender, now, onError }: PumpOptions): Promise<void> {
  const result = await attempt(row, sender).catch((error): SendResult => {
    onError(error);
    return { outcome: 'uncertain', reason: error instanceof Error ? error.message : String(error) };
  });
  await outbox.settle(row, result, now());
}

/** A post that may have arrived is looked for first; an edit that may have arrived is simply made again. */
async function attempt(row: OutboxRow, sender: Sender): Promise<SendResult> {
  if (row.ts !== null || row.uncertainSince === null) return sender.send(row);
  const found = await sender.find(row);
  if (!found) return sender.send(row);
  const { channel, ts, revision } = found;
  return revision >= row.revision ? { outcome: 'sent', channel, ts } : sender.send({ ...row, channel, ts });
}
