import { createHash, createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { getSigner } from '../../../src/evidence/aws/sign.ts';
import { type PrometheusOptions, prometheusReader } from '../../../src/evidence/prometheus/live.ts';
import type { MetricsReader } from '../../../src/triage/ports.ts';
import { opensslInstalled, selfSigned } from '../../services/self-signed.ts';

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
    [200, matrix([{ metric: null }]), 'failed', 'not that of a Prometheus'],
    [200, matrix([null as never]), 'failed', 'not that of a Prometheus'],
    [200, matrix([{ metric: { job: 7 } }]), 'failed', 'not that of a Prometheus'],
    [200, matrix([{ metric: {}, values: [null] }]), 'failed', 'not that of a Prometheus'],
    [200, matrix([{ metric: {}, values: [['x', '1']] }]), 'failed', 'not that of a Prometheus'],
    [200, 'null', 'failed', 'not that of a Prometheus'],
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

  /** Answers each name that the query selects with one series; `refuse` may answer in its place. */
  const double =
    (asked: string[][], refuse: (names: string[]) => [number, object] | null = () => null): http.RequestListener =>
    (request, response) => {
      const selector = new URL(request.url!, 'http://x').searchParams.get('query')!;
      const names = (/__name__=~"([^"]+)"/.exec(selector)?.[1] ?? /^[^{]+/.exec(selector)![0]).split('|');
      asked.push(names);
      const refused = refuse(names);
      if (refused) {
        response.writeHead(refused[0]).end(JSON.stringify(refused[1]));
        return;
      }
      response.end(matrix(names.map((name) => ({ metric: { __name__: name, job: 'api' }, values: [[1000, '1']] }))));
    };
  const four = ['a_total', 'b:rate5m', 'c', 'd'];
  const askFour = (reader: MetricsReader) => Promise.all(four.map((name) => reader.series({ ...query, name })));
  const named = (name: string) => ({ ok: true, complete: true, value: [{ name, labels: { job: 'api' } }] });

  it('metrics asked for in one turn are one query, and each gets its own series', async () => {
    const asked: string[][] = [];
    await withServer(double(asked), {}, async (reader) => {
      const other = reader.series({ ...query, name: 'e', stepSeconds: 30 });
      expect(await askFour(reader)).toMatchObject(four.map(named));
      expect(await other).toMatchObject(named('e'));
      expect((await reader.series({ ...query, name: 'c' })).ok).toBe(true);
    });
    expect(asked.toSorted((a, b) => b.length - a.length)).toEqual([four, ['e'], ['c']]);
  });

  it('the same metric asked twice in one turn is asked once', async () => {
    const asked: string[][] = [];
    await withServer(double(asked), {}, async (reader) => {
      const [first, second] = await Promise.all([reader.series(query), reader.series(query)]);
      expect(first).toEqual(second);
    });
    expect(asked).toEqual([['up']]);
  });

  it('more names than a URL holds are several queries', async () => {
    const asked: string[][] = [];
    const names = Array.from({ length: 200 }, (_, index) => `a_rather_long_name_of_a_metric_${index}`);
    await withServer(double(asked), {}, async (reader) => {
      const reads = await Promise.all(names.map((name) => reader.series({ ...query, name })));
      expect(reads).toMatchObject(names.map(named));
    });
    expect(asked.length).toBe(2);
  });

  it.each([
    [
      422,
      {
        status: 'error',
        errorType: 'execution',
        error: 'query processing would load too many samples into memory in query execution',
      },
    ],
    [422, { error: 'the query hit the max number of series limit (err-mimir-max-series-per-query)' }],
    [503, { status: 'error', errorType: 'timeout', error: 'query timed out in expression evaluation' }],
  ])('%i %j: only the metric that is too large is lost', async (status, body) => {
    const asked: string[][] = [];
    const tooLarge = (names: string[]): [number, object] | null => (names.includes('c') ? [status, body] : null);
    await withServer(double(asked, tooLarge), {}, async (reader) => {
      const reads = await askFour(reader);
      expect(reads.map(({ ok }) => ok)).toEqual([true, true, false, true]);
      expect(reads[2]).toMatchObject({ gap: { message: expect.stringContaining(body.error.slice(0, 30)) } });
    });
    expect(asked).toHaveLength(5);
  });

  it('a server all of whose answers are too large is asked a bounded number of times', async () => {
    const asked: string[][] = [];
    const seventy = Array.from({ length: 70 }, (_, i) => `metric_${i}`);
    const always = (): [number, object] => [422, { status: 'error', error: 'would load too many samples' }];
    await withServer(double(asked, always), {}, async (reader) => {
      const reads = await Promise.all(seventy.map((name) => reader.series({ ...query, name })));
      expect(reads.every(({ ok }) => !ok)).toBe(true);
    });
    expect(asked.length).toBeLessThanOrEqual(33);
  });

  it('a server that takes no regular expression over names is asked for each, from then on at once', async () => {
    const asked: string[][] = [];
    const refuse = (names: string[]): [number, object] | null =>
      names.length > 1 ? [400, { status: 'error', errorType: 'bad_data', error: 'regex matcher on __name__' }] : null;
    await withServer(double(asked, refuse), {}, async (reader) => {
      expect(await askFour(reader)).toMatchObject(four.map(named));
      expect(await askFour(reader)).toMatchObject(four.map(named));
    });
    expect(asked).toHaveLength(9);
  });

  it('a server that is away is one gap for all, and one query', async () => {
    const asked: string[][] = [];
    await withServer(
      double(asked, () => [502, { error: 'bad gateway' }]),
      {},
      async (reader) => {
        const messages = (await askFour(reader)).map((read) => (read.ok ? '' : read.gap.message));
        expect(new Set(messages)).toEqual(new Set(['cannot query Prometheus: 502 bad gateway']));
      },
    );
    expect(asked).toHaveLength(1);
  });

  it('signs each request for Amazon Managed Prometheus, over its very query', async () => {
    const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI', sessionToken: 'session' };
    const sign = getSigner({ service: 'aps', region: 'eu-central-1', credentials: async () => keys });
    const seen: http.IncomingMessage[] = [];
    const handle: http.RequestListener = (request, response) => {
      seen.push(request);
      response.end(matrix([]));
    };
    await withServer(handle, { sign }, async (reader) => {
      expect((await reader.series(query)).ok).toBe(true);
    });
    const [{ headers, url }] = seen as [http.IncomingMessage];
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/aps\/aws4_request, SignedHeaders=host;x-amz-/,
    );
    expect(headers['x-amz-security-token']).toBe('session');
    expect(headers.authorization).toContain(signatureOf(url!, headers, keys.secretAccessKey, 'eu-central-1'));
  });

  it('credentials that cannot be had are a gap', async () => {
    const sign = () => Promise.reject(new Error('no credentials'));
    const reader = prometheusReader({ url: 'http://127.0.0.1:1', sign });
    expect(await reader.series(query)).toMatchObject({
      ok: false,
      gap: { message: expect.stringMatching(/no credentials/) },
    });
  });

  it.skipIf(!opensslInstalled())('trusts the authority it is given, and names its tenant', async () => {
    const { key, cert, certFile } = selfSigned();
    const tenants: unknown[] = [];
    const server = https
      .createServer({ key, cert }, (request, response) => {
        tenants.push(request.headers['x-scope-orgid']);
        response.end(matrix([]));
      })
      .listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect((await prometheusReader({ url, caFile: certFile, tenant: 'eu' }).series(query)).ok).toBe(true);
      expect((await prometheusReader({ url }).series(query)).ok).toBe(false);
      expect(await prometheusReader({ url, caFile: '/nonexistent/ca.pem' }).series(query)).toMatchObject({
        gap: { message: expect.stringContaining('/nonexistent/ca.pem') },
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(tenants).toEqual(['eu']);
  });
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Signature Version 4 as AWS documents it, computed apart from the code under test. */
function signatureOf(url: string, headers: http.IncomingHttpHeaders, secret: string, region: string): string {
  const { pathname, searchParams } = new URL(url, 'http://x');
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!;
  const lines = signed
    .split(';')
    .map((name) => `${name}:${headers[name]}\n`)
    .join('');
  const time = headers['x-amz-date'] as string;
  const scope = `${time.slice(0, 8)}/${region}/aps/aws4_request`;
  const request = ['GET', pathname, query, lines, signed, headers['x-amz-content-sha256'] ?? sha256('')].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const hmac = (key: string | Buffer, part: string): Buffer => createHmac('sha256', key).update(part).digest();
  const key = [time.slice(0, 8), region, 'aps', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return `Signature=${hmac(key, text).toString('hex')}`;
}
