import { expect, it } from 'vitest';
import type { OutboxRow, ThreadMessage } from '../../src/domain/message.ts';
import type { Outbox } from '../../src/incidents/ports.ts';
import { alert, minute, notification } from '../incidents/samples.ts';
import { describeBackends } from './backends.ts';

const message = (slot: string, text = slot): ThreadMessage => ({
  slot,
  text,
  blocks: [{ type: 'section', text: { type: 'plain_text', text } }],
});

const sent = (row: OutboxRow) => ({ outcome: 'sent' as const, channel: 'C1', ts: `${row.slot}.1` });

describeBackends('outbox', (backend) => {
  const records = () => backend().open.records;
  const outbox = () => records().outbox;
  const incident = async (key = 'k') => {
    const [outcome] = await records().store.recordNotification(notification(minute(0), [alert({ key })]));
    return outcome!.incidentId;
  };
  const claimOne = async (now = minute(1), from: Outbox = outbox()) => {
    const rows = await from.claim(10, now);
    expect(rows.length).toBeLessThanOrEqual(1);
    return rows[0];
  };
  /** Sends all there is, in the order in which it is given out. */
  const drain = async (now = minute(1)) => {
    const slots: string[] = [];
    for (let row = await claimOne(now); row; row = await claimOne(now)) {
      slots.push(row.slot);
      await outbox().settle(row, sent(row), now);
    }
    return slots;
  };

  it('gives out the root, then the replies in order with the thread they hang on', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root'), message('layer-app'), message('verdict')]);
    const root = (await claimOne())!;
    expect(root).toMatchObject({ slot: 'root', channel: 'alerts', ts: null, threadTs: null, revision: 1, attempts: 1 });
    expect(root.blocks).toEqual(message('root').blocks);
    expect(await claimOne()).toBeUndefined();
    await outbox().settle(root, sent(root), minute(1));
    const reply = (await claimOne())!;
    expect(reply).toMatchObject({ slot: 'layer-app', channel: 'C1', threadTs: 'root.1' });
    expect(await claimOne()).toBeUndefined();
    await outbox().settle(reply, sent(reply), minute(1));
    expect(await drain()).toEqual(['verdict']);
    expect((await outbox().thread(id)).map(({ slot, state, ts }) => [slot, state, ts])).toEqual([
      ['root', 'sent', 'root.1'],
      ['layer-app', 'sent', 'layer-app.1'],
      ['verdict', 'sent', 'verdict.1'],
    ]);
  });

  it('gives out a message for another channel by itself, after the root, and edits it there', async () => {
    const id = await incident();
    const pointer = (text: string) => ({ ...message('for-owner', text), elsewhere: 'C0OWNER' });
    await outbox().plan(id, 'alerts', [message('root'), pointer('first')]);
    const root = (await claimOne())!;
    await outbox().settle(root, sent(root), minute(1));
    const row = (await claimOne())!;
    expect(row).toMatchObject({ slot: 'for-owner', channel: 'C0OWNER', elsewhere: 'C0OWNER', threadTs: null });
    await outbox().settle(row, { outcome: 'sent', channel: 'C0OWNER', ts: 'for-owner.1' }, minute(1));
    await outbox().plan(id, 'alerts', [message('root'), message('for-owner', 'withdrawn')]);
    expect(await claimOne()).toMatchObject({
      slot: 'for-owner',
      channel: 'C0OWNER',
      ts: 'for-owner.1',
      threadTs: null,
    });
  });

  it('sends nothing again while the content stays, and an edit with the same ts when it changes', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    await drain();
    await outbox().plan(id, 'elsewhere', [message('root')]);
    expect(await claimOne()).toBeUndefined();
    await outbox().plan(id, 'elsewhere', [message('root', 'resolved')]);
    expect(await claimOne()).toMatchObject({ ts: 'root.1', channel: 'C1', revision: 2, text: 'resolved' });
  });

  it('plans an edit when the content changed while it was being sent', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root', 'reading')]);
    const first = (await claimOne())!;
    await outbox().plan(id, 'alerts', [message('root', 'judged')]);
    expect(await claimOne()).toBeUndefined();
    await outbox().settle(first, sent(first), minute(1));
    const edit = (await claimOne())!;
    expect(edit).toMatchObject({ text: 'judged', ts: 'root.1', revision: 2 });
    await outbox().settle(edit, sent(edit), minute(1));
    expect((await outbox().thread(id))[0]).toMatchObject({ state: 'sent', ts: 'root.1' });
  });

  it('waits as long as a retry says', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    const row = (await claimOne(minute(1)))!;
    await outbox().settle(row, { outcome: 'retry', afterMs: 60_000, reason: 'ratelimited' }, minute(1));
    expect(await claimOne(minute(1))).toBeUndefined();
    await outbox().plan(id, 'alerts', [message('root', 'newer')]);
    expect(await claimOne(minute(1))).toBeUndefined();
    expect(await claimOne(minute(2))).toMatchObject({
      text: 'newer',
      attempts: 2,
      uncertainSince: null,
      lastError: 'ratelimited',
    });
  });

  it('counts the attempts since the last success, and ignores the late answer of one with the same count', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    const posted = (await claimOne(minute(1)))!;
    await outbox().settle(posted, sent(posted), minute(1));
    await outbox().plan(id, 'alerts', [message('root', 'newer')]);
    const edited = (await claimOne(minute(2)))!;
    expect(edited.attempts).toBe(1);
    await outbox().settle(posted, { outcome: 'permanent', reason: 'late' }, minute(2));
    expect((await outbox().thread(id))[0]).toMatchObject({ state: 'sending', lastError: null });
    await outbox().settle(edited, { outcome: 'retry', afterMs: 0, reason: 'ratelimited' }, minute(2));
    expect((await claimOne(minute(3)))!.attempts).toBe(2);
  });

  it('hands an uncertain send out with the time since when to look for it', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    const row = (await claimOne(minute(1)))!;
    await outbox().settle(row, { outcome: 'uncertain', reason: 'socket hang up' }, minute(1));
    const second = (await claimOne(minute(2)))!;
    expect(second).toMatchObject({ ts: null, uncertainSince: minute(1) });
    await outbox().settle(second, { outcome: 'uncertain', reason: 'again' }, minute(2));
    const third = (await claimOne(minute(3)))!;
    expect(third.uncertainSince).toBe(minute(1));
    await outbox().settle(third, sent(third), minute(3));
    expect((await outbox().thread(id))[0]).toMatchObject({ state: 'sent', uncertainSince: null, lastError: null });
  });

  it('takes over what a dead process was sending, to be looked for first, and ignores its late answer', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    const lost = (await claimOne(minute(1)))!;
    expect(await claimOne(minute(1))).toBeUndefined();
    const taken = (await claimOne(minute(2)))!;
    expect(taken).toMatchObject({ slot: 'root', attempts: 2, uncertainSince: minute(1), attemptedAt: minute(2) });
    await outbox().settle(lost, { ...sent(lost), ts: 'late' }, minute(2));
    await outbox().settle(taken, sent(taken), minute(2));
    expect((await outbox().thread(id))[0]!.ts).toBe('root.1');
  });

  it('gives up a message that is refused, until its content changes, and lets later replies pass', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root'), message('verdict'), message('escalation')]);
    const root = (await claimOne())!;
    await outbox().settle(root, sent(root), minute(1));
    const reply = (await claimOne())!;
    await outbox().settle(reply, { outcome: 'permanent', reason: 'invalid_blocks' }, minute(1));
    expect(await drain(minute(999))).toEqual(['escalation']);
    expect((await outbox().thread(id))[1]).toMatchObject({ state: 'failed', lastError: 'invalid_blocks' });
    await outbox().plan(id, 'alerts', [message('verdict', 'shorter')]);
    expect(await drain(minute(999))).toEqual(['verdict']);
  });

  it('tries an operator failure again by itself, with the fix kept for people', async () => {
    const id = await incident();
    await outbox().plan(id, 'alerts', [message('root')]);
    const row = (await claimOne())!;
    await outbox().settle(row, { outcome: 'operator', reason: 'not_in_channel', fix: 'Invite the bot' }, minute(1));
    expect((await outbox().thread(id))[0]).toMatchObject({
      state: 'failed',
      lastError: 'not_in_channel. Invite the bot',
    });
    expect(await claimOne(minute(2))).toBeUndefined();
    expect(await claimOne(minute(7))).toMatchObject({ slot: 'root' });
  });

  it('serves roots of other incidents before the replies and edits of one', async () => {
    const one = await incident('one');
    await outbox().plan(one, 'alerts', [message('root'), message('verdict')]);
    const root = (await claimOne())!;
    await outbox().settle(root, sent(root), minute(1));
    const two = await incident('two');
    await outbox().plan(two, 'alerts', [message('root')]);
    const rows = await outbox().claim(1, minute(1));
    expect(rows.map((row) => [row.incidentId, row.slot])).toEqual([[two, 'root']]);
  });

  it('never gives a row, nor two rows of an incident, to two claims at once', async () => {
    const another = await backend().openAnother?.();
    const sides = [outbox(), another?.records.outbox ?? outbox()];
    for (let i = 0; i < 10; i++) {
      await outbox().plan(
        await incident(`k${i}`),
        'alerts',
        ['root', 'a', 'b', 'c'].map((slot) => message(slot)),
      );
    }
    const held = new Set<string>();
    const order: string[] = [];
    const work = async (side: Outbox) => {
      for (let idle = 0; idle < 3; ) {
        const rows = await side.claim(3, minute(1));
        idle = rows.length ? 0 : idle + 1;
        for (const row of rows) {
          expect(held.has(row.incidentId)).toBe(false);
          held.add(row.incidentId);
        }
        for (const row of rows) {
          order.push(row.id);
          held.delete(row.incidentId);
          await side.settle(row, sent(row), minute(1));
        }
      }
    };
    await Promise.all([...sides, ...sides].map(work));
    await work(outbox());
    expect(order).toHaveLength(40);
    expect(new Set(order).size).toBe(40);
    await another?.close();
  });
});
