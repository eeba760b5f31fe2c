import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { alertmanagerSilencer } from '../../src/alertmanager/silencer.ts';
import { type AlertmanagerService, hasAlertmanager, startAlertmanager } from '../services/alertmanager.ts';

const silence = {
  id: null,
  matchers: [
    { name: 'alertname', value: 'KubePodCrashLooping', isRegex: false },
    { name: 'pod', value: 'web-.+', isRegex: true },
  ],
  startsAt: new Date().toISOString(),
  endsAt: new Date(Date.now() + 3_600_000).toISOString(),
  by: 'U0ALICE01',
  reason: 'the fix rolls out [faultline incident-1]',
};

describe.skipIf(!hasAlertmanager())('silences in a real Alertmanager', () => {
  let service: AlertmanagerService;
  beforeAll(async () => {
    service = await startAlertmanager({ url: 'http://127.0.0.1:9', bearerToken: 'x' });
  });
  afterAll(() => service.stop());
  const silencer = () => alertmanagerSilencer({ url: service.url, timeoutMs: 5_000 });

  it('are created, found by their mark, extended in place, and ended once and for all', async () => {
    const created = await silencer().put(silence);
    if (!created.ok) throw new Error(created.failure.message);
    const [found] = await marked();
    expect(found).toMatchObject({ id: created.value, by: 'U0ALICE01', matchers: silence.matchers });
    const endsAt = new Date(Date.now() + 7_200_000).toISOString();
    const extended = await silencer().put({ ...silence, id: created.value, startsAt: found!.startsAt, endsAt });
    if (!extended.ok) throw new Error(extended.failure.message);
    const after = await marked();
    expect(after.map(({ endsAt: end }) => Date.parse(end))).toEqual([Date.parse(endsAt)]);
    expect(await silencer().expire(after[0]!.id)).toEqual({ ok: true, value: null });
    expect(await silencer().expire(after[0]!.id)).toEqual({ ok: true, value: null });
    expect(await marked()).toEqual([]);
  });

  it('that Alertmanager does not take are a permanent failure with its words', async () => {
    const refused = await silencer().put({ ...silence, matchers: [] });
    expect(refused).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
  });

  const marked = async () => {
    const result = await silencer().marked('[faultline incident-1]');
    if (!result.ok) throw new Error(result.failure.message);
    return result.value;
  };
});

describe('an Alertmanager that cannot be used', () => {
  let server: Server | null = null;
  afterEach(() => server?.close());
  const answering = async (status: number, body: string) => {
    server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return alertmanagerSilencer({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      bearerToken: 'x',
      timeoutMs: 500,
    });
  };

  it.each([
    [401, 'no', 'operator', 'alertmanagerToken'],
    [503, 'starting', 'retry', 'try again'],
    [404, 'page not found', 'permanent', 'alertmanagerUrl'],
    [200, '<html>', 'operator', 'alertmanagerUrl'],
  ])('a %i is a failure that says what to do', async (status, body, kind, fix) => {
    const result = await (await answering(status, body)).put(silence);
    expect(result).toMatchObject({ ok: false, failure: { kind, fix: expect.stringContaining(fix) } });
  });

  it('is away: try again', async () => {
    const away = alertmanagerSilencer({ url: 'http://127.0.0.1:9', timeoutMs: 500 });
    expect(await away.marked('x')).toMatchObject({ ok: false, failure: { kind: 'retry' } });
  });
});
