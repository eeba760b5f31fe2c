import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Loop } from '../../src/incidents/loop.ts';
import { startOutboxPump } from '../../src/incidents/outbox-pump.ts';
import { eventually } from '../services/eventually.ts';
import { describeBackends } from '../storage/backends.ts';
import { alert, minute, notification } from './samples.ts';
import { Workspace } from './workspace.ts';

describeBackends('outbox pump', (backend) => {
  let workspace: Workspace;
  let pump: Loop | null;
  let clock: string;
  let errors: unknown[];
  beforeEach(() => {
    workspace = new Workspace();
    pump = null;
    clock = minute(1);
    errors = [];
  });
  afterEach(() => pump?.stop());

  const outbox = () => backend().open.records.outbox;
  const start = () => {
    pump = startOutboxPump({
      outbox: outbox(),
      sender: workspace,
      now: () => clock,
      pollMs: 20,
      onError: (error) => errors.push(error),
    });
  };
  const incident = async (slots = ['root']) => {
    const alerts = [alert({ key: crypto.randomUUID() })];
    const [outcome] = await backend().open.records.store.recordNotification(notification(minute(0), alerts));
    const id = outcome!.incidentId;
    await outbox().plan(
      id,
      'alerts',
      slots.map((slot) => ({ slot, text: slot, blocks: [] })),
    );
    return id;
  };
  const states = async (id: string) => (await outbox().thread(id)).map((row) => row.state);

  it('posts the root and hangs the replies on it', async () => {
    const id = await incident(['root', 'layer-app', 'verdict']);
    start();
    await eventually(() => states(id)).toEqual(['sent', 'sent', 'sent']);
    expect(workspace.thread(id).map(([slot]) => slot)).toEqual(['root', 'layer-app', 'verdict']);
    const [root, ...replies] = workspace.messages;
    expect(root!.threadTs).toBeNull();
    expect(replies.map((reply) => reply.threadTs)).toEqual([root!.ts, root!.ts]);
  });

  it('edits what it posted when the content changed while it was being sent', async () => {
    const id = await incident();
    let changed = false;
    workspace.beforeAnswer = async () => {
      if (changed) return;
      changed = true;
      await outbox().plan(id, 'alerts', [{ slot: 'root', text: 'judged', blocks: [] }]);
    };
    start();
    await eventually(() => workspace.thread(id)).toEqual([['root', 'judged']]);
    await eventually(() => states(id)).toEqual(['sent']);
    expect(workspace.calls).toEqual(['post root', 'edit root']);
  });

  it('reads back before it sends again when an answer was lost', async () => {
    workspace.plan.push('lost');
    const id = await incident();
    start();
    await eventually(() => workspace.calls).toEqual(['post root']);
    await eventually(() => states(id)).toEqual(['planned']);
    clock = minute(2);
    await eventually(() => states(id)).toEqual(['sent']);
    expect(workspace.calls).toEqual(['post root', 'find root']);
    expect(workspace.messages).toHaveLength(1);
  });

  it('edits what it found when the content is newer', async () => {
    workspace.plan.push('lost');
    const id = await incident();
    workspace.beforeAnswer = () => outbox().plan(id, 'alerts', [{ slot: 'root', text: 'newer', blocks: [] }]);
    start();
    await eventually(() => workspace.calls).toEqual(['post root']);
    await eventually(() => states(id)).toEqual(['planned']);
    clock = minute(2);
    await eventually(() => workspace.thread(id)).toEqual([['root', 'newer']]);
    expect(workspace.calls).toEqual(['post root', 'find root', 'edit root']);
  });

  it('knows the message it found even when the edit that follows fails', async () => {
    workspace.plan.push('lost', 'retry');
    const id = await incident();
    workspace.beforeAnswer = () => outbox().plan(id, 'alerts', [{ slot: 'root', text: 'newer', blocks: [] }]);
    start();
    await eventually(() => workspace.calls).toEqual(['post root']);
    await eventually(() => states(id)).toEqual(['planned']);
    clock = minute(2);
    await eventually(() => workspace.thread(id)).toEqual([['root', 'newer']]);
    expect(workspace.calls).toEqual(['post root', 'find root', 'edit root', 'edit root']);
  });

  it('posts again when a lost send turns out not to have arrived, and treats a thrown error as such', async () => {
    workspace.plan.push('uncertain', 'throws');
    const id = await incident();
    start();
    await eventually(() => workspace.calls).toEqual(['post root']);
    await eventually(() => states(id)).toEqual(['planned']);
    clock = minute(2);
    await eventually(() => workspace.calls).toEqual(['post root', 'find root', 'post root']);
    await eventually(() => states(id)).toEqual(['planned']);
    clock = minute(3);
    await eventually(() => states(id)).toEqual(['sent']);
    expect(workspace.messages).toHaveLength(1);
    expect(errors).toEqual([new Error('a bug')]);
  });

  it('adopts what a process posted before it died', async () => {
    const id = await incident();
    const [row] = await outbox().claim(1, clock);
    await workspace.send(row!);
    clock = minute(2);
    start();
    await eventually(() => states(id)).toEqual(['sent']);
    expect(workspace.calls).toEqual(['post root', 'find root']);
  });

  it('repeats what failed for the moment and gives up what is refused', async () => {
    workspace.plan.push('retry', 'retry', 'permanent');
    const id = await incident();
    start();
    await eventually(() => states(id)).toEqual(['failed']);
    expect(workspace.calls).toEqual(['post root', 'post root', 'post root']);
  });

  it('waits for what is being sent when it stops, and starts nothing more', async () => {
    const id = await incident(['root', 'verdict']);
    const sending = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    workspace.beforeAnswer = () => {
      sending.resolve();
      return answer.promise;
    };
    start();
    await sending.promise;
    const stopping = pump!.stop();
    answer.resolve();
    await stopping;
    expect(await states(id)).toEqual(['sent', 'planned']);
  });

  it('posts each message once from two processes', async () => {
    const other = await backend().openAnother?.();
    const ids = await Promise.all(Array.from({ length: 8 }, () => incident(['root', 'verdict'])));
    start();
    const second = startOutboxPump({
      outbox: other?.records.outbox ?? outbox(),
      sender: workspace,
      now: () => clock,
      pollMs: 20,
      onError: (error) => errors.push(error),
    });
    for (const id of ids) await eventually(() => states(id)).toEqual(['sent', 'sent']);
    await second.stop();
    await other?.close();
    expect(workspace.messages).toHaveLength(16);
    expect(errors).toEqual([]);
  });
});
