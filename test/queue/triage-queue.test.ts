import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StorageUnavailable } from '../../src/incidents/ports.ts';
import { createQueue, type Queue, type TriageHandlers } from '../../src/queue/triage-queue.ts';
import { eventually } from '../services/eventually.ts';
import { newId } from '../storage/backends.ts';
import { describeQueues } from './backends.ts';

/** Records what ran for one incident, and settles `judged` when its verdict was reached; jobs of others just pass. */
const journal = (id: string, handlers: Partial<TriageHandlers> = {}) => {
  const ran: string[] = [];
  const judged = Promise.withResolvers<void>();
  const all: TriageHandlers = {
    async layer(incidentId, run, layer) {
      if (incidentId !== id) return;
      ran.push(layer);
      await handlers.layer?.(incidentId, run, layer);
    },
    async verdict(incidentId, run) {
      if (incidentId !== id) return;
      ran.push('verdict');
      await handlers.verdict?.(incidentId, run);
      judged.resolve();
    },
  };
  return { ran, judged: judged.promise, handlers: all };
};

describeQueues('triage queue', (place) => {
  let queue: Queue;
  let closePlace: () => Promise<void>;
  const open = async () => {
    const opened = await place().open();
    closePlace = opened.close;
    queue = await createQueue({ backend: opened.backend, lockMs: 1_000, backoffMs: 10, onError: () => {} });
  };
  const close = async () => {
    await queue.close();
    await closePlace();
  };
  beforeEach(open);
  afterEach(close);

  it('reads every layer, then judges', async () => {
    const id = newId();
    const { ran, judged, handlers } = journal(id);
    queue.work(handlers, 3);
    expect(await queue.addTriage(id, 1)).toBe('added');
    await judged;
    expect(ran.slice(0, 3).sort()).toEqual(['app', 'cloud', 'platform']);
    expect(ran.slice(3)).toEqual(['verdict']);
  });

  it('adds a run once, and again once its jobs are gone', async () => {
    const id = newId();
    expect(await queue.addTriage(id, 1)).toBe('added');
    expect(await queue.addTriage(id, 1)).toBe('present');
    const { ran, judged, handlers } = journal(id);
    queue.work(handlers, 3);
    await judged;
    expect(ran).toHaveLength(4);
    await eventually(() => queue.addTriage(id, 1)).toBe('added');
  });

  it('judges although a layer failed for good, and shows the dead job', async () => {
    const id = newId();
    const { ran, judged, handlers } = journal(id, {
      async layer(_id, _run, layer) {
        if (layer === 'platform') throw new Error('no such host');
      },
    });
    queue.work(handlers, 3);
    await queue.addTriage(id, 1);
    await judged;
    expect(ran.filter((name) => name === 'platform')).toHaveLength(4);
    const dead = (await queue.deadJobs(100)).filter((job) => job.incidentId === id);
    expect(dead).toMatchObject([{ run: 1, layer: 'platform', reason: 'no such host', attempts: 4 }]);
    expect(Date.parse(dead[0]!.at)).toBeGreaterThan(Date.now() - 60_000);
    // The run can be added again after its verdict job was lost, dead layer or not.
    await eventually(() => queue.addTriage(id, 1)).toBe('added');
    await eventually(() => ran.filter((name) => name === 'verdict').length).toBe(2);
  });

  it('says of a run that it is dead when its verdict job failed for good', async () => {
    const id = newId();
    const { handlers } = journal(id, {
      async verdict() {
        throw new Error('rule broke');
      },
    });
    queue.work(handlers, 3);
    await queue.addTriage(id, 1);
    await eventually(() => queue.addTriage(id, 1)).toEqual({ dead: 'rule broke' });
    expect((await queue.counts()).dead).toBeGreaterThan(0);
    expect(await queue.addTriage(id, 2)).toBe('added');
  });

  it('spends no attempt while the records are away', async () => {
    const id = newId();
    let calls = 0;
    const { judged, handlers } = journal(id, {
      async verdict() {
        if (++calls <= 6) throw new StorageUnavailable('away');
      },
    });
    queue.work(handlers, 3);
    await queue.addTriage(id, 1);
    await judged;
    expect(calls).toBe(7);
  });

  it('lets the job under way finish when it closes', async () => {
    const id = newId();
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let finished = 0;
    const first = journal(id, {
      async layer() {
        started.resolve();
        await release.promise;
        finished++;
      },
    });
    queue.work(first.handlers, 1);
    await queue.addTriage(id, 1);
    await started.promise;
    const closing = close();
    release.resolve();
    await closing;
    expect(finished).toBe(1);
    await open();
    const rest = journal(id);
    queue.work(rest.handlers, 1);
    await rest.judged;
    expect([...first.ran, ...rest.ran].sort()).toEqual(['app', 'cloud', 'platform', 'verdict']);
  });

  it('finishes a triage whose worker was killed between two layers', async () => {
    await close();
    const incidentId = newId();
    const script = new URL('./hanging-worker.ts', import.meta.url).pathname;
    const argument = JSON.stringify({ settings: place().settings, incidentId });
    const child = spawn(process.execPath, [script, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(child.stdout!)) if (line === 'platform') break;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await open();
    const { ran, judged, handlers } = journal(incidentId);
    queue.work(handlers, 1);
    await judged;
    // The cloud layer was done before.
    expect(ran.sort()).toEqual(['app', 'platform', 'verdict']);
  });
});
