import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Silence } from '../../src/domain/silence.ts';
import { matchersFor, type Silencer } from '../../src/incidents/silences.ts';
import { describeBackends } from '../storage/backends.ts';
import { startInstall, steerableSteps } from './install.ts';
import { alert, minute, notification } from './samples.ts';

const hour = 3_600_000;

/** Silences in memory, as Alertmanager keeps them: one that is changed gets another id. */
const memorySilencer = () => {
  const silences = new Map<string, Silence>();
  let failure: 'retry' | 'operator' | null = null;
  const answer = <T>(value: () => T) =>
    failure
      ? { ok: false as const, failure: { kind: failure, message: 'it says no', fix: 'ask again' } }
      : { ok: true as const, value: value() };
  const silencer: Silencer = {
    put: async ({ id, ...silence }) =>
      answer(() => {
        if (id) silences.delete(id);
        const next = `s${silences.size + 1}-${silence.endsAt}`;
        silences.set(next, { ...silence, id: next });
        return next;
      }),
    expire: async (id) =>
      answer(() => {
        silences.delete(id);
        return null;
      }),
    marked: async (mark) => answer(() => [...silences.values()].filter(({ reason }) => reason.endsWith(mark))),
  };
  const fail = (kind: typeof failure): void => {
    failure = kind;
  };
  return { silencer, silences, fail };
};

describeBackends('silencing', (backend) => {
  let memory: ReturnType<typeof memorySilencer>;
  let install: Awaited<ReturnType<typeof startInstall>>;
  let id: string;
  const store = () => backend().open.records.store;
  const request = { durationMs: hour, reason: 'hunter2 rolls out', breadth: 'alerts' } as const;

  beforeEach(async () => {
    memory = memorySilencer();
    const { records, pool } = backend().open;
    install = await startInstall(records, { pool }, steerableSteps(), undefined, memory.silencer);
    const pods = ['web-5b7bd7c8d-x2klm', 'web-5b7bd7c8d-9fj2w'].map((pod, i) =>
      alert({ fingerprint: `f${i}`, labels: { pod, instance: `10.0.0.${i}:8080` } }),
    );
    const [outcome] = await install.incidents.receive(notification(minute(0), pods));
    id = outcome!.incidentId;
  });
  afterEach(() => install.stop());

  it('silences the alerts of a workload once, whatever its pods are called, and records who and why', async () => {
    expect(await install.incidents.silence(id, request, 'U1')).toBeNull();
    const [silence, ...others] = memory.silences.values();
    expect(others).toEqual([]);
    expect(silence).toMatchObject({
      by: 'U1',
      reason: `[redacted] rolls out [faultline ${id}]`,
      matchers: [
        { name: 'alertname', value: 'KubePodCrashLooping', isRegex: false },
        { name: 'namespace', value: 'shop', isRegex: false },
        { name: 'pod', value: 'web-.+', isRegex: true },
      ],
    });
    expect((await store().record(id))!.silences).toMatchObject([{ id: silence!.id, by: 'U1' }]);
    expect((await store().auditTrail(id)).map(({ action }) => action)).toEqual(['silence']);
  });

  it('extends what is silenced instead of adding to it, and ends it', async () => {
    await install.incidents.silence(id, request, 'U1');
    expect(await install.incidents.silence(id, { ...request, durationMs: 2 * hour }, 'U2')).toBeNull();
    expect(memory.silences.size).toBe(1);
    expect((await store().record(id))!.silences).toHaveLength(1);
    expect(await install.incidents.unsilence(id, 'U2')).toBeNull();
    expect(memory.silences.size).toBe(0);
    expect((await store().record(id))!.silences).toEqual([]);
    expect(await install.incidents.unsilence(id, 'U2')).toBe('notSilenced');
  });

  it('finds again what a process that died left behind', async () => {
    await memory.silencer.put({
      id: null,
      matchers: matchersFor((await store().record(id))!.alerts, 'alerts')[0]!,
      startsAt: minute(0),
      endsAt: minute(60),
      by: 'U1',
      reason: `x [faultline ${id}]`,
    });
    await install.incidents.silence(id, request, 'U1');
    expect(memory.silences.size).toBe(1);
  });

  it('changes nothing, and says why, where Alertmanager is away or refuses, or nothing fires', async () => {
    memory.fail('retry');
    expect(await install.incidents.silence(id, request, 'U1')).toBe('alertmanagerAway');
    memory.fail('operator');
    expect(await install.incidents.silence(id, request, 'U1')).toBe('alertmanagerRefuses');
    expect(install.refusedSilences).toEqual(['it says no', 'it says no']);
    expect((await store().record(id))!.silences).toEqual([]);
    memory.fail(null);
    const ended = ['f0', 'f1'].map((fingerprint) => alert({ fingerprint, status: 'resolved' }));
    await install.incidents.receive(notification(minute(9), ended));
    expect(await install.incidents.silence(id, request, 'U1')).toBe('nothingFires');
    expect(await install.incidents.silence('none', request, 'U1')).toBe('unknown');
  });
});

describe('the conditions of a silence', () => {
  const matchers = (labels: Record<string, string>, breadth: 'alerts' | 'group' = 'alerts') =>
    matchersFor([{ ...alert().alert, labels }], breadth)[0]!.map(({ name, value }) => `${name}=${value}`);

  it('keep what tells alerts apart, and leave out what changes while the trouble stays', () => {
    expect(matchers({ alertname: 'A', node: 'n1', instance: '10.0.0.1:9100', uid: 'x' })).toEqual([
      'alertname=A',
      'instance=10.0.0.1:9100',
      'node=n1',
    ]);
    expect(matchers({ alertname: 'A', pod: 'db-0', instance: '10.0.0.1:9100' })).toEqual(['alertname=A', 'pod=db-.+']);
    expect(matchers({ alertname: 'A', pod: 'lonely' })).toEqual(['alertname=A', 'pod=lonely']);
  });

  it('quote what a regex would read', () => {
    expect(matchers({ alertname: 'A', pod: 'a.b-0' })).toEqual(['alertname=A', 'pod=a\\.b-.+']);
  });

  it('of a group are its name, cluster and namespace', () => {
    expect(matchers({ alertname: 'A', cluster: 'c', namespace: 'n', pod: 'p', severity: 's' }, 'group')).toEqual([
      'alertname=A',
      'cluster=c',
      'namespace=n',
    ]);
  });
});
