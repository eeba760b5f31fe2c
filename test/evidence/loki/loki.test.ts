import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type LokiOptions, lokiReader } from '../../../src/evidence/loki/reader.ts';
import type { PastLog, PastLogsReader } from '../../../src/triage/ports.ts';

const wanted: PastLog = {
  namespace: 'shop',
  pod: 'web-7d9f-x2x4z',
  previous: false,
  since: '2026-05-01T10:00:00.000Z',
  until: '2026-05-01T10:40:00.000Z',
};

interface Asked {
  path: string;
  parameters: Record<string, string>;
  headers: http.IncomingHttpHeaders;
}

/** Loki's query API over these streams; the reader is asked inside `use`. */
async function withLoki(
  answer: { status?: number; body: string },
  options: Partial<LokiOptions>,
  use: (reader: PastLogsReader) => Promise<void>,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  const server = http
    .createServer(({ url, headers }, response) => {
      const { pathname, searchParams } = new URL(url!, 'http://x');
      asked.push({ path: pathname, parameters: Object.fromEntries(searchParams), headers });
      response.writeHead(answer.status ?? 200).end(answer.body);
    })
    .listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await use(
      lokiReader({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/loki-gateway`, ...options }),
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return asked;
}

const streams = (...result: object[]): { body: string } => ({
  body: JSON.stringify({ status: 'success', data: { resultType: 'streams', result } }),
});
const ns = (second: number): string => `17776296${String(second).padStart(2, '0')}000000000`;

describe('lokiReader', () => {
  it('asks for one pod between two times, the newest lines first, as its tenant', async () => {
    const options = { tenant: 'prod', basicAuth: { username: 'u', password: 'p' }, matchers: ['cluster="eu"'] };
    const [asked, ...more] = await withLoki(streams(), options, async (reader) => {
      expect(await reader.read(wanted)).toEqual({ ok: true, value: [], complete: true });
    });
    expect(more).toEqual([]);
    expect(asked).toMatchObject({
      path: '/loki-gateway/loki/api/v1/query_range',
      parameters: {
        query: '{cluster="eu",namespace="shop",pod="web-7d9f-x2x4z"}',
        start: '1777629600000000000',
        end: '1777632000000000000',
        limit: '1000',
        direction: 'backward',
      },
      headers: { 'x-scope-orgid': 'prod', authorization: `Basic ${Buffer.from('u:p').toString('base64')}` },
    });
  });

  it('gives each container its lines, oldest first, and the command that shows them again', async () => {
    const answer = streams(
      {
        stream: { container: 'web', stream: 'stderr' },
        values: [
          [ns(9), 'panic: boom'],
          [ns(2), 'starting'],
        ],
      },
      { stream: { container: 'web', stream: 'stdout' }, values: [[ns(5), 'ready']] },
      { stream: { container: 'proxy' }, values: [[ns(6), 'draining']] },
    );
    await withLoki(answer, {}, async (reader) => {
      const read = await reader.read(wanted);
      expect(read.ok && read.value).toMatchObject([
        {
          namespace: 'shop',
          pod: wanted.pod,
          container: 'web',
          previous: false,
          text: 'starting\nready\npanic: boom\n',
        },
        { container: 'proxy', text: 'draining\n' },
      ]);
      expect(read.ok && read.value[0]!.store).toEqual({
        name: 'Loki',
        reproduce: `logcli query '{namespace="shop",pod="web-7d9f-x2x4z"}' --from=${wanted.since} --to=${wanted.until} --limit=1000`,
      });
    });
  });

  it('takes labels by other names, and one container of a pod', async () => {
    const labels = { namespace: 'k8s_namespace_name', pod: 'k8s_pod_name', container: 'k8s_container_name' };
    const [asked] = await withLoki(
      streams({ stream: { k8s_container_name: 'web' }, values: [[ns(1), 'bye']] }),
      { labels },
      async (reader) => {
        const read = await reader.read({ ...wanted, container: 'web', previous: true });
        expect(read.ok && read.value).toMatchObject([{ container: 'web', previous: true, text: 'bye\n' }]);
      },
    );
    expect(asked!.parameters.query).toBe(
      '{k8s_namespace_name="shop",k8s_pod_name="web-7d9f-x2x4z",k8s_container_name="web"}',
    );
  });

  it.each([
    ['2026-05-01T10:00:01.123456789Z stderr F out of cheese', 'out of cheese'],
    ['{"log":"out of cheese\\n","stream":"stderr","time":"2026-05-01T10:00:01Z"}', 'out of cheese'],
    ['{"log":"its own","level":"error"}', '{"log":"its own","level":"error"}'],
    ['{"msg":"cut short', '{"msg":"cut short'],
  ])('of %s the container wrote %s', async (line, text) => {
    await withLoki(streams({ stream: { container: 'web' }, values: [[ns(1), line]] }), {}, async (reader) => {
      const read = await reader.read(wanted);
      expect(read.ok && read.value[0]!.text).toBe(`${text}\n`);
    });
  });

  it('keeps the last lines of a container that wrote much, and says that there was more', async () => {
    const values = Array.from({ length: 1000 }, (_, index) => [`${1777629600 + index}000000000`, `line ${index}`]);
    await withLoki(streams({ stream: { container: 'web' }, values }), {}, async (reader) => {
      const read = await reader.read(wanted);
      expect(read).toMatchObject({ ok: true, complete: false });
      const lines = read.ok ? read.value[0]!.text.trimEnd().split('\n') : [];
      expect([lines.length, lines.at(0), lines.at(-1)]).toEqual([400, 'line 600', 'line 999']);
    });
  });

  it('the same question of several triages is asked once; a failure is asked anew', async () => {
    const good = await withLoki(streams(), {}, async (reader) => {
      const [first, second] = await Promise.all([reader.read(wanted), reader.read(wanted)]);
      expect([first.free, second.free, (await reader.read(wanted)).free]).toEqual([undefined, true, true]);
    });
    expect(good).toHaveLength(1);
    const bad = await withLoki({ status: 500, body: 'no' }, {}, async (reader) => {
      await reader.read(wanted);
      await reader.read(wanted);
    });
    expect(bad).toHaveLength(2);
  });

  it.each([
    [401, 'no org id', 'forbidden', '401 no org id'],
    [400, 'the query time range exceeds the limit (query length: 40m, limit: 30m)', 'failed', 'exceeds the limit'],
    [429, 'too many outstanding requests', 'failed', 'too many outstanding requests'],
    [504, '', 'timeout', '504'],
    [200, '<html>login</html>', 'failed', 'not that of a Loki query API'],
    [200, '{"status":"success","data":{"resultType":"matrix","result":[]}}', 'failed', 'not that of a Loki query API'],
    [200, streams({ stream: null, values: [] }).body, 'failed', 'not that of a Loki query API'],
    [200, streams({ stream: {}, values: [null] }).body, 'failed', 'not that of a Loki query API'],
    [200, streams({ stream: {}, values: [['soon', 'x']] }).body, 'failed', 'not that of a Loki query API'],
    [200, streams({ stream: {} }).body, 'failed', 'not that of a Loki query API'],
    [200, 'null', 'failed', 'not that of a Loki query API'],
  ])('HTTP %i %s is a gap: %s', async (status, body, reason, text) => {
    await withLoki({ status, body }, {}, async (reader) => {
      expect(await reader.read(wanted)).toMatchObject({
        ok: false,
        gap: { reason, message: expect.stringContaining(text) },
      });
    });
  });
});
