import type { OutboxRow, SendResult } from '../../src/domain/message.ts';
import type { Sender } from '../../src/incidents/ports.ts';

interface Posted {
  incidentId: string;
  slot: string;
  text: string;
  revision: number;
  threadTs: string | null;
  ts: string;
}

/** A chat workspace: posts get a ts, edits keep it, and an answer may get lost on its way back. */
export class Workspace implements Sender {
  readonly messages: Posted[] = [];
  /** How the next sends end; once empty they succeed. `lost`: it arrived, and the answer did not. */
  readonly plan: (Exclude<SendResult['outcome'], 'sent'> | 'lost' | 'throws')[] = [];
  readonly calls: string[] = [];
  /** Called before a send is answered. */
  beforeAnswer: (row: OutboxRow) => Promise<void> = async () => {};

  async send(row: OutboxRow): Promise<SendResult> {
    this.calls.push(`${row.ts ? 'edit' : 'post'} ${row.slot}`);
    const outcome = this.plan.shift();
    if (outcome === 'throws') throw new Error('a bug');
    if (outcome === 'retry') return { outcome, afterMs: 0, reason: 'ratelimited' };
    if (outcome === 'operator') return { outcome, reason: 'not_in_channel', fix: 'Invite the bot' };
    if (outcome === 'permanent' || outcome === 'uncertain') return { outcome, reason: outcome };
    const ts = this.#deliver(row);
    await this.beforeAnswer(row);
    if (outcome === 'lost') return { outcome: 'uncertain', reason: 'socket hang up' };
    return { outcome: 'sent', channel: 'C1', ts };
  }

  async find({ incidentId, slot }: OutboxRow) {
    this.calls.push(`find ${slot}`);
    const found = this.messages.find((message) => message.incidentId === incidentId && message.slot === slot);
    return found ? { channel: 'C1', ts: found.ts, revision: found.revision } : null;
  }

  thread(incidentId: string): [string, string][] {
    return this.messages.filter((m) => m.incidentId === incidentId).map((m) => [m.slot, m.text]);
  }

  #deliver({ incidentId, slot, text, revision, threadTs, ts }: OutboxRow): string {
    const known = this.messages.find((message) => message.ts === ts);
    if (known) {
      Object.assign(known, { text, revision });
      return known.ts;
    }
    const posted = { incidentId, slot, text, revision, threadTs, ts: `${1000 + this.messages.length}.000100` };
    this.messages.push(posted);
    return posted.ts;
  }
}
