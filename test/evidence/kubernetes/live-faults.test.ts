import { describe, expect, it } from 'vitest';
import { resources } from '../../../src/triage/resources.ts';
import { status } from '../../fakes/kubernetes/status.ts';
import { caseFiles } from './fixture.ts';
import { withApi } from './with-api.ts';

describe('paging', () => {
  const names = ['web-0', 'web-0', 'web-1', 'web-2', 'worker-0'];

  it('reads page by page and never asks for more than the bound', () =>
    withApi(
      async ({ api, reader }) => {
        const read = await reader.list(resources.pods, { limit: 3 });
        expect(read).toMatchObject({
          ok: true,
          complete: false,
          value: names.slice(0, 3).map((name) => ({ metadata: { name } })),
        });
        expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['2', '1']);
      },
      { pageSize: 2 },
    ));

  it('goes on when a continue token has expired', () =>
    withApi(
      async ({ api, reader }) => {
        api.store.expiringTokens = 1;
        const read = await reader.list(resources.pods, { limit: 10 });
        expect(read).toMatchObject({ ok: true, complete: true, value: names.map((name) => ({ metadata: { name } })) });
      },
      { pageSize: 2 },
    ));

  it('keeps what it has, marked incomplete, when tokens go on expiring', () =>
    withApi(
      async ({ api, reader }) => {
        api.store.expiringTokens = 100;
        const read = await reader.list(resources.pods, { limit: 10 });
        expect(read).toMatchObject({ ok: true, complete: false, value: [{}, {}] });
        expect(reader.calls).toBe(3);
      },
      { pageSize: 2 },
    ));
});

describe('an API server in trouble', () => {
  it('waits as long as 429 asks, then answers', () =>
    withApi(async ({ api, reader }) => {
      api.faults.push({ resource: 'nodes', times: 1, reply: { ...tooMany, headers: { 'retry-after': '1' } } });
      expect(await reader.get(resources.nodes, 'node-a')).toMatchObject({ ok: true });
      expect(reader.calls).toBe(2);
    }));

  it('gives up at once where the wait is longer than the call may take', () =>
    withApi(
      async ({ api, reader }) => {
        api.faults.push({ resource: 'nodes', times: 1, reply: { ...tooMany, headers: { 'retry-after': '60' } } });
        const read = await reader.get(resources.nodes, 'node-a');
        expect(read).toMatchObject({ ok: false, gap: { reason: 'failed', message: expect.stringContaining('429') } });
        expect(reader.calls).toBe(1);
      },
      { callTimeoutMs: 5000 },
    ));

  it('is not asked again after a 5xx', () =>
    withApi(async ({ api, reader }) => {
      api.faults.push({ resource: 'nodes', times: 1, reply: { status: 502, body: '<html>Bad Gateway</html>' } });
      const read = await reader.list(resources.nodes, { limit: 10 });
      expect(read).toMatchObject({
        ok: false,
        gap: { reason: 'failed', message: expect.stringContaining('502 <html>') },
      });
      expect(api.requests).toHaveLength(1);
    }));

  it('a broken connection costs its own read only', () =>
    withApi(async ({ api, reader }) => {
      api.faults.push({ resource: 'nodes', reset: true });
      const read = await reader.get(resources.nodes, 'node-a');
      expect(read).toMatchObject({
        ok: false,
        gap: { reason: 'failed', message: expect.stringContaining('cannot get nodes node-a') },
      });
      expect(await reader.list(resources.pods, { limit: 10 })).toMatchObject({ ok: true });
    }));

  it('a server that is not there is a gap', () =>
    withApi(async ({ api, reader }) => {
      await api.stop();
      expect(await reader.probe('readyz')).toMatchObject({
        ok: false,
        gap: { reason: 'failed', message: expect.stringContaining('ECONNREFUSED') },
      });
    }));

  it('keeps the objects it had when a later page fails', () =>
    withApi(
      async ({ api, reader }) => {
        api.faults.push(
          { resource: 'pods', times: 1, latencyMs: 1 },
          { resource: 'pods', reply: status(500, 'InternalError', 'no leader') },
        );
        expect(await reader.list(resources.pods, { limit: 10 })).toMatchObject({
          ok: true,
          complete: false,
          value: [{}, {}],
        });
      },
      { pageSize: 2 },
    ));
});

const tooMany = status(429, 'TooManyRequests', 'Too many requests, please try again later.');

describe('cost', () => {
  it('shares identical calls in flight between triages, and no later ones', () =>
    withApi(async ({ api, reader, second }) => {
      api.faults.push({ resource: 'nodes', latencyMs: 50 });
      const both = await Promise.all([reader, second].map((one) => one.get(resources.nodes, 'node-a')));
      expect(both.map(({ ok }) => ok)).toEqual([true, true]);
      expect(api.requests).toHaveLength(1);
      expect([reader.calls, second.calls]).toEqual([1, 0]);
      await second.get(resources.nodes, 'node-a');
      expect(api.requests).toHaveLength(2);
    }));

  it('holds the number of requests in flight', () =>
    withApi(
      async ({ api, reader }) => {
        api.faults.push({ resource: '*', latencyMs: 10 });
        const labels = Array.from({ length: 20 }, (_, index) => `app=web-${index}`);
        await Promise.all(labels.map((labelSelector) => reader.list(resources.pods, { limit: 10, labelSelector })));
        expect(api.requests).toHaveLength(20);
        expect(api.peakInFlight).toBeLessThanOrEqual(3);
      },
      { concurrency: 3 },
    ));

  it('time spent in the queue counts against the call', () =>
    withApi(
      async ({ api, reader }) => {
        api.faults.push({ resource: '*', latencyMs: 5000 });
        const reads = ['a', 'b', 'c'].map((name) => reader.get(resources.nodes, name));
        expect((await Promise.all(reads)).map((read) => !read.ok && read.gap.reason)).toEqual([
          'timeout',
          'timeout',
          'timeout',
        ]);
        expect(api.requests.length).toBeLessThanOrEqual(1);
      },
      { concurrency: 1, callTimeoutMs: 150 },
    ));

  it('reads large answers, which come compressed', () => {
    const items = Array.from({ length: 400 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `p-${String(index).padStart(4, '0')}`,
        namespace: 'shop',
        annotations: { note: 'x'.repeat(1000) },
      },
    }));
    return withApi(
      async ({ reader }) => {
        const read = await reader.list(resources.pods, { limit: 1000 });
        expect(read.ok && read.value.length).toBe(405);
      },
      {},
      undefined,
      { ...caseFiles(), 'cluster/more.json': { kind: 'List', items } },
    );
  });
});
