import type { OutboxRow, SendResult } from '../domain/message.ts';
import type { Sender } from '../incidents/ports.ts';

/**
 * The sender while Slack is unset. The console shows the outbox itself, so a row is delivered once it is there;
 * the ts has Slack's form, so that a thread's messages have an identity and an order.
 */
export const consoleSender = (now: () => string): Sender => ({
  async send(row: OutboxRow): Promise<SendResult> {
    return { outcome: 'sent', channel: row.channel, ts: row.ts ?? newTs(now()) };
  },
  async find() {
    return null;
  },
});

let sequence = 0;

const newTs = (iso: string): string => {
  sequence = (sequence + 1) % 1_000_000;
  return `${Math.floor(Date.parse(iso) / 1000)}.${String(sequence).padStart(6, '0')}`;
};
