import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { layers } from '../../src/domain/layer.ts';
import { eventually } from '../services/eventually.ts';
import { hasRedis, type RedisService, startRedis } from '../services/redis.ts';
import { describeBackends } from '../storage/backends.ts';
import { startInstall, steerableSteps } from './install.ts';
import { alert, facts, notification, verdict } from './samples.ts';

const now = () => new Date().toISOString();

describeBackends('incident use cases', (backend) => {
  let steps: ReturnType<typeof steerableSteps>;
  let install: Awaited<ReturnType<typeof startInstall>>;
  const records = () => backend().open.records;
  beforeEach(async () => {
    steps = steerableSteps();
    install = await startInstall(records(), { pool: backend().open.pool }, steps);
  });
  afterEach(() => install.stop());

  const receive = async (...alerts: ReturnType<typeof alert>[]) => {
    const outcomes = await install.incidents.receive(notification(now(), alerts.length ? alerts : [alert()]));
    return outcomes[0]!.incidentId;
  };
  const threadOf = (id: string) => install.workspace.thread(id);
  const shows = (id: string, text: string | RegExp) =>
    eventually(() => threadOf(id).map(([, shown]) => shown)).toContainEqual(expect.stringMatching(text));

  it('goes from a notification to a judged thread, with one root', async () => {
    install.work();
    const id = await receive();
    await shows(id, /^open; 1 alerts; app$/);
    await eventually(() => threadOf(id)).toEqual([
      ['root', 'open; 1 alerts; app'],
      ['verdict', 'The container exits with code 1.'],
    ]);
    expect(steps.collected.sort()).toEqual(['app', 'cloud', 'platform']);
    expect(steps.judged[0]).toEqual([facts('cloud'), facts('platform'), facts('app')]);
    expect(await records().store.record(id)).toMatchObject({
      escalation: { title: 'For app' },
      routing: { owner: 'app' },
    });
    expect(install.errors).toEqual([]);
  });

  it('withdraws a posted reply that a later run has nothing to say in its place, and keeps the owner change', async () => {
    install.work();
    steps.judge = () => verdict('platform');
    const id = await receive();
    await shows(id, 'evidence of the platform');
    steps.judge = () => verdict('app');
    await eventually(() => install.incidents.rerun(id, 'U1')).toBe(true);
    await shows(id, 'withdrawn by run 2');
    await eventually(() =>
      threadOf(id)
        .map(([slot]) => slot)
        .sort(),
    ).toEqual(['layer-platform', 'owner-change-2', 'root', 'verdict']);
    await eventually(() => install.incidents.rerun(id, 'U1')).toBe(true);
    await shows(id, 'withdrawn by run 3');
    expect(threadOf(id)).toContainEqual(['owner-change-2', 'platform → app']);
  });

  it('shows the incident before anything is read, and each layer as it is read', async () => {
    const id = await receive();
    await shows(id, 'cloud waiting, platform waiting, app waiting');
    await install.incidents.readLayer(id, 1, 'platform');
    await shows(id, 'cloud waiting, platform read, app waiting');
  });

  it('loses no progress when layers end at the same moment', async () => {
    const id = await receive();
    await Promise.all(layers.map((layer) => install.incidents.readLayer(id, 1, layer)));
    const [root] = await records().outbox.thread(id);
    expect(root!.text).toContain('cloud read, platform read, app read');
  });

  it('adds no message for a notification that came before, and edits the root as alerts come and go', async () => {
    const id = await receive();
    const [before] = await records().outbox.thread(id);
    await receive();
    expect((await records().outbox.thread(id))[0]!.revision).toBe(before!.revision);
    await receive(alert({ fingerprint: 'f2' }));
    await shows(id, /^open; 2 alerts/);
    await receive(alert({ status: 'resolved' }), alert({ fingerprint: 'f2', status: 'resolved' }));
    await shows(id, /^resolved; 2 alerts/);
    expect(install.workspace.messages).toHaveLength(1);
  });

  it('stores no secret of an alert or of the facts', async () => {
    steps.collectLayer = async (_incident, _alerts, layer) => ({
      ...facts(layer),
      logs: [{ namespace: 'shop', pod: 'cart', container: 'cart', previous: false, text: 'password=hunter2' }],
    });
    install.work();
    const id = await receive(alert({ labels: { password: 'hunter2' } }));
    await shows(id, /^open; 1 alerts; app$/);
    const record = await records().store.record(id);
    expect(record!.alerts[0]!.labels.password).toBe('[redacted]');
    expect(JSON.stringify([record, await records().store.facts(id)])).not.toContain('hunter2');
    const { rows } = await backend().open.pool.query(
      `select (select json_agg(i)::text from incidents i) || (select json_agg(a)::text from alerts a) ||
        (select json_agg(o)::text from outbox o) || (select json_agg(k)::text from correlation_keys k) as everything`,
    );
    expect(rows[0].everything).not.toContain('hunter2');
  });

  it('reads a layer once per run, whoever asks', async () => {
    const id = await receive();
    await install.incidents.readLayer(id, 1, 'app');
    await install.incidents.readLayer(id, 1, 'app');
    expect(steps.collected).toEqual(['app']);
  });

  it('judges without a layer that cannot be read, and shows that it failed', async () => {
    const { collectLayer } = steps;
    steps.collectLayer = async (incident, alerts, layer) => {
      if (layer === 'cloud') throw new Error('credentials expired');
      return collectLayer(incident, alerts, layer);
    };
    install.work();
    const id = await receive();
    await shows(id, /^open; 1 alerts; app$/);
    expect(steps.judged[0]!.map((read) => read.layer)).toEqual(['platform', 'app']);
    expect((await records().store.record(id))!.incident.progress).toEqual({
      cloud: 'failed',
      platform: 'read',
      app: 'read',
    });
    expect(await install.queue.deadJobs(10)).toContainEqual(
      expect.objectContaining({ incidentId: id, layer: 'cloud', reason: 'credentials expired' }),
    );
  });

  it('judges all that was ever read when it runs again, and says whose it was before', async () => {
    install.work();
    const id = await receive();
    await shows(id, /^open; 1 alerts; app$/);
    steps.judge = (_record, all) => {
      steps.judged.push(all);
      return verdict('cloud', 'A zone is down.');
    };
    await eventually(() => install.incidents.rerun(id, 'U1')).toBe(true);
    await shows(id, 'app → cloud');
    await eventually(() => threadOf(id).map(([slot]) => slot)).toEqual(['root', 'verdict', 'owner-change-2']);
    expect(steps.judged.at(-1)!.map((read) => read.layer)).toEqual([...layers, ...layers]);
    expect((await records().store.auditTrail(id)).map(({ actor, action }) => [actor, action])).toEqual([
      ['U1', 'rerun'],
    ]);
  });

  it('lets the first one acknowledge, and starts no second run while one is under way', async () => {
    const id = await receive();
    expect(await install.incidents.act(id, { action: 'acknowledge' }, 'U1')).toBeNull();
    expect(await install.incidents.act(id, { action: 'acknowledge' }, 'U2')).toBe('acknowledgedBefore');
    await shows(id, 'ack U1');
    expect(await install.incidents.rerun(id, 'U1')).toBe(false);
  });

  it('hands a judged incident over, and shows whose it is then, through later runs', async () => {
    install.work();
    const id = await receive();
    expect(await install.incidents.handOff(id, { to: 'infra', why: 'x', corrects: true }, 'U1')).toBe('noVerdict');
    await shows(id, /^open; 1 alerts; app$/);
    const handOff = { to: 'infra', why: 'the password hunter2 was ours', corrects: true };
    expect(await install.incidents.handOff(id, { ...handOff, to: 'nobody' }, 'U1')).toBe('noTeam');
    expect(await install.incidents.handOff(id, handOff, 'U1')).toBeNull();
    expect(await install.incidents.handOff(id, handOff, 'U2')).toBe('ownedAlready');
    expect(await install.incidents.rerun(id, 'U1')).toBe(true);
    await eventually(() => records().store.dueRuns(1)).toEqual([]);
    expect(await records().store.record(id)).toMatchObject({
      verdict: { owner: 'app' },
      routing: { owner: 'platform', party: 'infra' },
      handOff: { number: 1, by: 'U1', corrects: true, why: 'the password [redacted] was ours' },
    });
    expect((await records().store.auditTrail(id)).map(({ action }) => action)).toEqual(['correct-owner', 'rerun']);
  });

  it('keeps an incident that a person closed closed while its alerts fire on, until one starts anew', async () => {
    const id = await receive();
    expect(await install.incidents.act(id, { action: 'resolve', reason: 'rolled back' }, 'U1')).toBeNull();
    await receive();
    expect((await records().store.record(id))!.incident).toMatchObject({ status: 'resolved', resolvedBy: 'U1' });
    expect(await receive(alert({ fingerprint: 'f2' }))).toBe(id);
    expect((await records().store.record(id))!.incident).toMatchObject({
      status: 'open',
      resolvedBy: null,
      refires: 1,
    });
  });

  it('ends a run that cannot be judged, so that a person can start another', async () => {
    const { judge } = steps;
    steps.judge = () => {
      throw new Error('a rule is broken');
    };
    install.work();
    const id = await receive();
    await eventually(async () => (await records().store.auditTrail(id)).map((entry) => entry.detail)).toEqual([
      'run 1: a rule is broken',
    ]);
    expect(await records().store.dueRuns(10)).toEqual([]);
    steps.judge = judge;
    expect(await install.incidents.rerun(id, 'U1')).toBe(true);
    await shows(id, /^open; 1 alerts; app$/);
  });

  it('looks again when an expected state has outlived its deadline, and not when the deadline was past', async () => {
    steps.judge = () => {
      steps.judged.push([]);
      const deadlineMs = steps.judged.length === 1 ? Date.now() + 300 : 0;
      return { ...verdict('undetermined'), state: 'expected', deadline: new Date(deadlineMs).toISOString() };
    };
    install.work();
    const id = await receive();
    await eventually(async () => (await records().store.record(id))!.incident.run).toBe(2);
    await eventually(() => records().store.dueRuns(10)).toEqual([]);
    expect(await records().store.startRechecks(new Date(Date.now() + 3_600_000).toISOString())).toBe(0);
    expect(steps.judged).toHaveLength(2);
  });

  describe.skipIf(!hasRedis())('with the queue in Redis', () => {
    let redis: RedisService;
    let onRedis: typeof install;
    beforeEach(async () => {
      redis = await startRedis();
      onRedis = await startInstall(records(), { redisUrl: redis.url }, steps, install.workspace);
    });
    afterEach(async () => {
      await onRedis.stop();
      await redis.remove();
    });

    it('completes although Redis was restarted empty in the middle', async () => {
      const reading = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const { collectLayer } = steps;
      steps.collectLayer = async (...read) => {
        reading.resolve();
        await release.promise;
        return collectLayer(...read);
      };
      // No worker serves the other queue: only this one can bring the run to its end.
      onRedis.work();
      const id = await receive();
      await reading.promise;
      await redis.restartEmpty();
      release.resolve();
      await shows(id, /^open; 1 alerts; app$/);
      await eventually(() => threadOf(id).map(([slot]) => slot)).toEqual(['root', 'verdict']);
    });
  });
});
