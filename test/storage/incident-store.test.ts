import { expect, it } from 'vitest';
import { layers } from '../../src/domain/layer.ts';
import { alert, facts, minute, notification, reading, routing, verdict } from '../incidents/samples.ts';
import { describeBackends } from './backends.ts';

const day = 24 * 60;

describeBackends('incident store', (backend) => {
  const store = () => backend().open.records.store;
  const record = async (...[at, alerts, more]: Parameters<typeof notification>) =>
    store().recordNotification(notification(at, alerts, more));
  const open = async () => (await record(minute(0), [alert()]))[0]!.incidentId;
  const judge = (id: string, run = 1) => store().saveVerdict(id, run, verdict('app'), routing('app'), null, minute(2));

  it('opens one incident, due for its first run, with everything the alert said', async () => {
    const [outcome] = await record(minute(1), [alert({ labels: { pod: 'cart-1' } })], {
      rejected: ['alert 2: no labels'],
    });
    expect(outcome!.change).toBe('opened');
    const stored = (await store().record(outcome!.incidentId))!;
    expect(stored.incident).toMatchObject({
      cluster: 'prod-1',
      title: 'KubePodCrashLooping',
      severity: 'critical',
      status: 'open',
      run: 1,
      refires: 0,
      progress: { cloud: 'waiting', platform: 'waiting', app: 'waiting' },
      firedAt: minute(0),
      openedAt: minute(1),
      resolvedAt: null,
    });
    expect(stored.alerts).toEqual([
      { ...alert({ labels: { pod: 'cart-1' } }).alert, incidentId: outcome!.incidentId, receivedAt: minute(1) },
    ]);
    expect(stored.rejected).toEqual(['alert 2: no labels']);
    expect(stored.externalURL).toBe('http://alertmanager:9093');
    expect(await store().dueRuns(10)).toEqual([{ incidentId: outcome!.incidentId, run: 1 }]);
  });

  it('changes nothing when the same notification comes again', async () => {
    const id = await open();
    const before = await store().record(id);
    expect(await record(minute(4), [alert()])).toEqual([{ incidentId: id, change: 'unchanged' }]);
    expect(await store().record(id)).toEqual(before);
  });

  it('makes one incident of alerts with one key, and one each of different keys', async () => {
    const outcomes = await record(minute(0), [
      alert({ fingerprint: 'a' }),
      alert({ fingerprint: 'b' }),
      alert({ fingerprint: 'c', key: 'other' }),
    ]);
    expect(outcomes.map((outcome) => outcome.change)).toEqual(['opened', 'opened']);
    expect((await store().record(outcomes[0]!.incidentId))!.alerts).toHaveLength(2);
  });

  it('never makes two incidents of notifications that arrive at the same moment', async () => {
    const at = Array.from({ length: 12 }, (_, i) =>
      record(minute(0), [
        alert({ fingerprint: `f${i}`, key: `k${i % 2}` }),
        alert({ fingerprint: `g${i}`, key: `k${(i + 1) % 2}` }),
      ]),
    );
    const outcomes = (await Promise.all(at)).flat();
    expect(new Set(outcomes.map((outcome) => outcome.incidentId)).size).toBe(2);
    expect(outcomes.filter((outcome) => outcome.change === 'opened')).toHaveLength(2);
    expect(await store().list(10)).toHaveLength(2);
  });

  it('lets an alert join, resolves in part, and is resolved when none fires', async () => {
    const id = await open();
    const change = async (...args: Parameters<typeof record>) => (await record(...args))[0]!.change;
    expect(await change(minute(1), [alert({ fingerprint: 'f2' })])).toBe('joined');
    expect(await change(minute(5), [alert({ status: 'resolved' }), alert({ fingerprint: 'f2' })])).toBe(
      'partly-resolved',
    );
    expect((await store().record(id))!.incident.status).toBe('open');
    expect(await change(minute(6), [alert({ fingerprint: 'f2', status: 'resolved', endsAt: minute(6) })])).toBe(
      'resolved',
    );
    expect((await store().record(id))!.incident).toMatchObject({
      status: 'resolved',
      resolvedAt: minute(6),
      refires: 0,
    });
    expect((await store().record(id))!.alerts.map((stored) => stored.status)).toEqual(['resolved', 'resolved']);
  });

  it('takes a re-fire within 24 h into the same incident and starts a run', async () => {
    const id = await open();
    await judge(id);
    await store().perform(id, { action: 'acknowledge' }, 'U1', minute(3));
    await record(minute(5), [alert({ status: 'resolved' })]);
    expect(await store().dueRuns(10)).toEqual([]);
    const again = await record(minute(5 + day), [alert({ startsAt: minute(4 + day) })]);
    expect(again).toEqual([{ incidentId: id, change: 'refired' }]);
    expect((await store().record(id))!.incident).toMatchObject({
      status: 'open',
      refires: 1,
      run: 2,
      resolvedAt: null,
      acknowledgedBy: null,
    });
    expect(await store().dueRuns(10)).toEqual([{ incidentId: id, run: 2 }]);
  });

  it('opens a new incident when it fires later than 24 h after the resolve', async () => {
    const id = await open();
    await record(minute(5), [alert({ status: 'resolved' })]);
    const [later] = await record(minute(6 + day), [alert({ startsAt: minute(6 + day) })]);
    expect(later!.change).toBe('opened');
    expect(later!.incidentId).not.toBe(id);
    // From now on the key leads to the newer one.
    expect(await record(minute(7 + day), [alert({ startsAt: minute(6 + day) })])).toEqual([
      { incidentId: later!.incidentId, change: 'unchanged' },
    ]);
  });

  it('counts flaps in one incident', async () => {
    const id = await open();
    for (const n of [1, 2, 3]) {
      await record(minute(n * 10), [
        alert({ startsAt: minute((n - 1) * 10), status: 'resolved', endsAt: minute(n * 10) }),
      ]);
      await record(minute(n * 10 + 1), [alert({ startsAt: minute(n * 10) })]);
    }
    expect((await store().record(id))!.incident).toMatchObject({ status: 'open', refires: 3, run: 4 });
    expect(await store().list(10)).toHaveLength(1);
  });

  it('keeps the number of alerts that Alertmanager cut', async () => {
    const id = await open();
    await record(minute(1), [alert()], { truncatedAlerts: 7 });
    expect((await store().record(id))!.incident.truncatedAlerts).toBe(7);
  });

  it('opens nothing for an alert that was never seen to fire', async () => {
    expect(await record(minute(5), [alert({ status: 'resolved' })])).toEqual([]);
    expect(await store().list(10)).toEqual([]);
  });

  it('records heartbeats without an incident, and knows the newest per cluster', async () => {
    const beat = alert({ heartbeat: true, fingerprint: 'w', labels: { alertname: 'Watchdog' } });
    const inhibitor = alert({ heartbeat: true, fingerprint: 'i', labels: { alertname: 'InfoInhibitor' } });
    expect(await record(minute(1), [beat])).toEqual([]);
    await record(minute(2), [beat]);
    await record(minute(3), [inhibitor]);
    expect(await store().heartbeats()).toEqual({ 'prod-1': minute(2) });
    expect(await store().list(10)).toEqual([]);
    const { rows } = await backend().open.pool.query('select alertname, state from heartbeats order by 1');
    expect(rows).toEqual([
      { alertname: 'InfoInhibitor', state: 'expected' },
      { alertname: 'Watchdog', state: 'expected' },
    ]);
  });

  it('stores text that PostgreSQL would refuse', async () => {
    const [outcome] = await record(minute(0), [alert({ labels: { pod: 'a\0b\ud800c\\u0000' } })]);
    expect((await store().record(outcome!.incidentId))!.alerts[0]!.labels.pod).toBe('a\ufffdb\ufffdc\\u0000');
  });

  it('records ten thousand alerts of many keys', async () => {
    const alerts = Array.from({ length: 10_000 }, (_, i) => alert({ fingerprint: `f${i}`, key: `k${i % 40}` }));
    const outcomes = await record(minute(0), alerts);
    expect(outcomes).toHaveLength(40);
    expect((await store().record(outcomes[0]!.incidentId))!.alerts).toHaveLength(250);
  });

  it('shows the readings of the current run and keeps the facts of all', async () => {
    const id = await open();
    for (const layer of layers) await store().saveReading(id, 1, facts(layer), reading(layer));
    expect((await store().record(id))!.incident.progress).toEqual({ cloud: 'read', platform: 'read', app: 'read' });
    await judge(id);
    expect(await store().requestRun(id, 'U1', minute(3))).toBe(true);
    await store().setProgress(id, 2, 'app', 'reading');
    await store().saveReading(id, 2, facts('cloud', minute(4)), reading('cloud', minute(4)));
    const { incident, readings } = (await store().record(id))!;
    expect(incident.progress).toEqual({ cloud: 'read', platform: 'waiting', app: 'reading' });
    expect(Object.keys(readings)).toEqual(['cloud']);
    expect(await store().facts(id)).toEqual([
      facts('cloud'),
      facts('platform'),
      facts('app'),
      facts('cloud', minute(4)),
    ]);
  });

  it('stores the same reading twice as one', async () => {
    const id = await open();
    await store().saveReading(id, 1, facts('app'), reading('app'));
    await store().saveReading(id, 1, facts('app', minute(2)), reading('app', minute(2)));
    expect(await store().facts(id)).toEqual([facts('app', minute(2))]);
  });

  it('shows the state before, where what was expected has become a fault', async () => {
    const id = await open();
    const expected = { ...verdict('undetermined'), state: 'expected' as const };
    await store().saveVerdict(id, 1, expected, routing('platform'), null, minute(2));
    expect(await store().record(id)).toMatchObject({ formerState: null });
    await store().requestRun(id, 'U1', minute(3));
    await store().saveVerdict(id, 2, verdict('undetermined'), routing('platform'), null, minute(4));
    expect(await store().record(id)).toMatchObject({ formerState: 'expected', formerOwner: null });
  });

  it('shows the newest verdict and the owner before it, where it changed', async () => {
    const id = await open();
    await judge(id);
    expect(await store().record(id)).toMatchObject({
      verdictAt: minute(2),
      formerOwner: null,
      verdict: verdict('app'),
    });
    expect(await store().dueRuns(10)).toEqual([]);
    await store().requestRun(id, 'U1', minute(3));
    const pack = { audience: 'cloud' as const, title: 'Zone', body: 'Zone a is down', incomplete: [] };
    await store().saveVerdict(id, 2, verdict('cloud'), routing('cloud'), pack, minute(4));
    expect(await store().record(id)).toMatchObject({
      formerOwner: 'app',
      verdict: verdict('cloud'),
      routing: routing('cloud'),
      escalation: pack,
    });
  });

  it('keeps a newer run due when the verdict of an older one arrives', async () => {
    const id = await open();
    await record(minute(5), [alert({ status: 'resolved' })]);
    await record(minute(9), [alert({ startsAt: minute(8) })]);
    await judge(id, 1);
    expect(await store().dueRuns(10)).toEqual([{ incidentId: id, run: 2 }]);
  });

  it('lets one of two who acknowledge win', async () => {
    const id = await open();
    const acknowledge = (actor: string) => store().perform(id, { action: 'acknowledge' }, actor, minute(1));
    const refused = await Promise.all([acknowledge('U1'), acknowledge('U2')]);
    expect(refused.toSorted()).toEqual(['acknowledgedBefore', null]);
    const trail = await store().auditTrail(id);
    expect(trail.map(({ action, actor }) => [action, actor])).toEqual([
      ['acknowledge', refused[0] === null ? 'U1' : 'U2'],
    ]);
  });

  it('starts no run while one is under way, and can after one that failed', async () => {
    const id = await open();
    expect(await store().requestRun(id, 'U1', minute(1))).toBe(false);
    await store().saveReading(id, 1, facts('app'), reading('app'));
    await store().failRun(id, 1, 'boom', minute(2));
    expect((await store().record(id))!.incident.progress).toEqual({ cloud: 'failed', platform: 'failed', app: 'read' });
    expect(await store().dueRuns(10)).toEqual([]);
    expect(await store().requestRun(id, 'U1', minute(3))).toBe(true);
    expect((await store().auditTrail(id)).map((entry) => entry.action)).toEqual(['run-failed', 'rerun']);
  });

  it('rolls a transaction back as a whole', async () => {
    const work = backend().open.records.transaction(async (stores) => {
      const [outcome] = await stores.store.recordNotification(notification(minute(0), [alert()]));
      await stores.outbox.plan(outcome!.incidentId, 'C1', [{ slot: 'root', text: 'x', blocks: [] }]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await store().list(10)).toEqual([]);
  });

  it('deletes old incidents with all that belongs to them', async () => {
    const id = await open();
    await store().saveReading(id, 1, facts('app'), reading('app'));
    await record(minute(5), [alert({ status: 'resolved' })]);
    const stillOpen = await record(minute(5), [alert({ key: 'other' })]);
    expect(await store().prune(minute(4))).toBe(0);
    expect(await store().prune(minute(6))).toBe(1);
    expect(await store().record(id)).toBeNull();
    expect((await store().list(10)).map((incident) => incident.id)).toEqual([stillOpen[0]!.incidentId]);
  });

  it('tells listeners of runs and messages after the commit', async () => {
    const heard: string[] = [];
    const enough = Promise.withResolvers<void>();
    const stop = await backend().open.records.listen(({ topic, incidentId }) => {
      heard.push(`${topic} ${incidentId}`);
      if (heard.length === 2) enough.resolve();
    });
    const id = await open();
    await backend().open.records.outbox.plan(id, 'C1', [{ slot: 'root', text: 'x', blocks: [] }]);
    await enough.promise;
    await stop();
    expect(heard).toEqual([`run ${id}`, `outbox ${id}`]);
  });
});
