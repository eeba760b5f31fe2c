import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type PrometheusOptions, prometheusReader } from '../../../src/evidence/prometheus/live.ts';
import type { MetricsReader } from '../../../src/triage/ports.ts';

const query = { name: 'up', matchers: { job: 'api' }, start: 1000, end: 1120, stepSeconds: 60 };

const matrix = (result: object[], more: object = {}): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'matrix', result }, ...more });

/** A query API that answers by `handle`; the reader is asked inside `use`. */
async function withServer(
  handle: http.RequestListener,
  options: Partial<PrometheusOptions>,
  use: (reader: MetricsReader) => Promise<void>,
): Promise<void> {
  const server = http.createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prometheus/`;
  try {
    await use(prometheusReader({ url, ...options }));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('prometheusReader', () => {
  it('asks for one selector, below the path prefix, by bearer token', async () => {
    const seen: (string | undefined)[] = [];
    const handle: http.RequestListener = (request, response) => {
      const url = new URL(request.url!, 'http://x');
      seen.push(
        url.pathname,
        url.searchParams.get('query')!,
        url.searchParams.get('step')!,
        request.headers.authorization,
      );
      response.end(
        matrix([
          {
            metric: { __name__: 'up', job: 'api' },
            values: [
              [1000, '1'],
              [1060, '+Inf'],
              [1120, 'NaN'],
            ],
          },
        ]),
      );
    };
    await withServer(handle, { bearerToken: 'abc' }, async (reader) => {
      expect(await reader.series(query)).toEqual({
        ok: true,
        complete: true,
        value: [
          {
            name: 'up',
            labels: { job: 'api' },
            points: [
              [1000, 1],
              [1060, Number.POSITIVE_INFINITY],
              [1120, Number.NaN],
            ],
          },
        ],
      });
    });
    expect(seen).toEqual(['/prometheus/api/v1/query_range', 'up{job="api"}', '60', 'Bearer abc']);
  });

  it('authenticates by name and password', async () => {
    let authorization: string | undefined;
    const handle: http.RequestListener = (request, response) => {
      authorization = request.headers.authorization;
      response.end(matrix([]));
    };
    await withServer(handle, { basicAuth: { username: 'me', password: 'pw' } }, async (reader) => {
      expect(await reader.series(query)).toEqual({ ok: true, value: [], complete: true });
    });
    expect(authorization).toBe(`Basic ${Buffer.from('me:pw').toString('base64')}`);
  });

  it('a partial answer is incomplete', () =>
    withServer(
      (_, response) => response.end(matrix([], { warnings: ['store unavailable'] })),
      {},
      async (reader) => {
        expect(await reader.series(query)).toMatchObject({ ok: true, complete: false });
      },
    ));

  it.each([
    [401, 'no', 'forbidden', '401 no'],
    [403, '', 'forbidden', '403'],
    [422, '{"status":"error","error":"query processing would load too many samples"}', 'failed', 'too many samples'],
    [503, 'upstream', 'failed', '503 upstream'],
    [504, '', 'timeout', '504'],
    [200, '<html>login</html>', 'failed', 'not that of a Prometheus'],
    [200, '{"status":"success","data":{"resultType":"vector","result":[]}}', 'failed', 'not that of a Prometheus'],
  ])('HTTP %i %s is a gap: %s', (status, body, reason, text) =>
    withServer(
      (_, response) => response.writeHead(status).end(body),
      {},
      async (reader) => {
        const read = await reader.series(query);
        expect(read).toMatchObject({ ok: false, gap: { reason, message: expect.stringContaining(text) } });
      },
    ),
  );

  it('an answer that does not come is a timeout', () =>
    withServer(
      () => {},
      { timeoutMs: 100 },
      async (reader) => {
        expect(await reader.series(query)).toMatchObject({ ok: false, gap: { reason: 'timeout' } });
      },
    ));

  it('a server that is not there is a gap', async () => {
    const reader = prometheusReader({ url: 'http://127.0.0.1:1' });
    const read = await reader.series(query);
    expect(read).toMatchObject({
      ok: false,
      gap: { reason: 'failed', message: expect.stringContaining('cannot query up{job="api"}') },
    });
  });

  it('refuses ranges that Prometheus refuses', async () => {
    const reader = prometheusReader({ url: 'http://127.0.0.1:1' });
    const read = await reader.series({ ...query, end: 1_000_000, stepSeconds: 1 });
    expect(read).toMatchObject({ ok: false, gap: { message: expect.stringContaining('11000 steps') } });
    expect(await reader.series({ ...query, end: 0 })).toMatchObject({ ok: false, gap: { reason: 'failed' } });
  });
});
