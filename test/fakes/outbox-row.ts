import type { OutboxRow } from '../../src/domain/message.ts';

/** A root message about to be sent for the first time. */
export const outboxRow = (overrides: Partial<OutboxRow> = {}): OutboxRow => ({
  id: 'row-1',
  incidentId: '01JD2V7Q4Y8M3N6P9R0S1T2U3V',
  slot: 'root',
  text: 'Critical: KubePodNotReady',
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'card', verbatim: true } }],
  revision: 1,
  state: 'sending',
  channel: 'C0INCIDENTS',
  ts: null,
  threadTs: null,
  attempts: 0,
  attemptedAt: new Date().toISOString(),
  uncertainSince: null,
  lastError: null,
  ...overrides,
});
