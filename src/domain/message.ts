/** A message of a thread as it will be sent. `blocks` are Slack Block Kit blocks. */
export interface ThreadMessage {
  /** `root`, `layer-cloud`, `verdict`, `next-steps`, `escalation`, `owner-change-2` …: one message per (incident, slot). */
  slot: string;
  /** Stands by itself in this channel instead of the thread's. */
  elsewhere?: string;
  /** Top-level text: the lock screen and screen readers. */
  text: string;
  blocks: unknown[];
}

export type OutboxState = 'planned' | 'sending' | 'sent' | 'failed';

/** One row of the outbox: a message to post, or to edit when `ts` is known. */
export interface OutboxRow extends ThreadMessage {
  id: string;
  incidentId: string;
  /** Grows with every change of the content. */
  revision: number;
  state: OutboxState;
  channel: string;
  /** Slack's message timestamp; a string, since it is an identity and not a number. */
  ts: string | null;
  /** The root's ts; null for the root itself. */
  threadTs: string | null;
  /** Since the last one that succeeded. */
  attempts: number;
  attemptedAt: string | null;
  /** Earliest attempt that may have arrived unseen; not null: read the thread back before posting again. */
  uncertainSince: string | null;
  lastError: string | null;
}

/** How an attempt to send ended. `uncertain`: it may have arrived; read it back before sending again. */
export type SendResult =
  | { outcome: 'sent'; channel: string; ts: string }
  | { outcome: 'retry'; afterMs: number; reason: string }
  | { outcome: 'uncertain'; reason: string }
  | { outcome: 'permanent'; reason: string }
  | { outcome: 'operator'; reason: string; fix: string };
