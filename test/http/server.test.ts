import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HttpError, maxBodyBytes } from '../../src/http/errors.ts';
import { loadRoutes } from '../../src/http/load-routes.ts';
import type { Route } from '../../src/http/route.ts';
import { createServer } from '../../src/http/server.ts';
import { StorageUnavailable } from '../../src/incidents/ports.ts';
import { configOf, handlerDeps } from '../fakes/handler-deps.ts';

const config = configOf(`
clusters: [{name: eu, inCluster: true}]
webhooks: {alertmanagerToken: all-clusters, tokens: [{name: am-eu, token: only-eu, clusters: [eu]}]}
`);
const route = (
  auth: Route['auth'],
  answer: Route['handler'] = () => (request) => ({ grant: request.grant }),
): Route => ({
  method: 'POST',
  path: '/try',
  auth,
  handler: answer,
});
const serverWith = (...routes: Route[]) => createServer(handlerDeps({ config }), routes);
const post = (routeToTry: Route, headers: Record<string, string> = {}, payload = 'x') =>
  serverWith(routeToTry).inject({ method: 'POST', url: '/try', headers, payload });
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('a webhook route', () => {
  it.each([
    ['bearer', 'Bearer all-clusters', { name: 'alertmanager', clusters: null }],
    ['bearer in another case', 'bearer all-clusters', { name: 'alertmanager', clusters: null }],
    ['basic', basic('anybody', 'only-eu'), { name: 'am-eu', clusters: ['eu'] }],
    ['basic without user', basic('', 'only-eu'), { name: 'am-eu', clusters: ['eu'] }],
  ])('opens by %s', async (_, authorization, grant) => {
    expect((await post(route('webhook'), { authorization })).json()).toEqual({ grant });
  });

  it.each([
    ['nothing', undefined],
    ['a wrong token', 'Bearer all-cluster'],
    ['a longer token', 'Bearer all-clusters-2'],
    ['an empty token', 'Bearer '],
    ['the token as user', basic('only-eu', '')],
    ['basic without colon', `Basic ${Buffer.from('only-eu').toString('base64')}`],
    ['another scheme', 'Digest all-clusters'],
  ])('stays closed to %s', async (_, authorization) => {
    const response = await post(route('webhook'), authorization ? { authorization } : {});
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toMatch(/Bearer.*Basic/);
    expect(response.json()).toEqual({
      error: expect.stringMatching(/token/),
      fix: expect.stringMatching(/credentials/),
    });
  });

  it('says what to set where no token is configured', async () => {
    const server = createServer(handlerDeps(), [route('webhook')]);
    const response = await server.inject({ method: 'POST', url: '/try', headers: { authorization: 'Bearer x' } });
    expect(response.statusCode).toBe(401);
    expect(response.json().fix).toMatch(/ALERTMANAGER_WEBHOOK_TOKEN/);
  });

  it('refuses a stranger before it reads the body', async () => {
    const response = await post(route('webhook'), {}, 'x'.repeat(maxBodyBytes + 1));
    expect(response.statusCode).toBe(401);
  });
});

describe('other routes', () => {
  it('are for this machine, where they say so', async () => {
    expect((await post(route('loopback'))).statusCode).toBe(200);
    const other = { method: 'POST', url: '/try', remoteAddress: '10.0.0.7' } as const;
    expect((await serverWith(route('loopback')).inject(other)).statusCode).toBe(403);
    expect((await serverWith(route('none')).inject(other)).statusCode).toBe(200);
  });

  it('open to a webhook token or to this machine', async () => {
    const server = serverWith(route('webhook-or-loopback'));
    const from = (remoteAddress: string, headers = {}) =>
      server.inject({ method: 'POST', url: '/try', remoteAddress, headers }).then(({ statusCode }) => statusCode);
    expect(await from('127.0.0.1')).toBe(200);
    expect(await from('10.0.0.7', { authorization: 'Bearer all-clusters' })).toBe(200);
    expect(await from('10.0.0.7')).toBe(403);
    expect(await from('10.0.0.7', { authorization: 'Bearer wrong' })).toBe(401);
  });
});

describe('answers', () => {
  it('hand the body over as text, whatever its type says', async () => {
    const echo = route('none', () => (request) => ({ body: request.body }));
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'odd/type; charset=utf-8',
    ]) {
      expect((await post(echo, { 'content-type': type }, '{"a":"ü"}')).json()).toEqual({ body: '{"a":"ü"}' });
    }
  });

  it('carry security headers, which a page may replace', async () => {
    const page = route('none', () => (_request, reply) => reply.header('content-security-policy', 'own').send('page'));
    expect((await post(route('none'))).headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/default-src 'none'/),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    expect((await post(page)).headers['content-security-policy']).toBe('own');
  });

  const failing = (error: Error): Route =>
    route('none', () => async () => {
      throw error;
    });
  it.each([
    ['what a handler says', new HttpError(409, 'taken', 'reload'), 409, { error: 'taken', fix: 'reload' }],
    ['503 without storage', new StorageUnavailable('gone'), 503, { error: /nothing was stored/, fix: /readyz/ }],
    [
      '500 for a bug, without its text',
      new TypeError('secret detail'),
      500,
      { error: /^internal error$/, fix: /request/ },
    ],
  ])('fail with %s', async (_, error, status, body) => {
    const response = await post(failing(error));
    expect(response.statusCode).toBe(status);
    for (const [key, expected] of Object.entries(body)) expect(response.json()[key]).toMatch(expected);
    expect(response.body).not.toContain('secret detail');
  });

  it.each([
    ['a NUL', '/things/%00', 404],
    ['what is no UTF-8', '/things/%ff', 400],
    ['more than any id', `/things/${'a'.repeat(5000)}`, 414],
  ])('refuse an id with %s like anything else', async (_, url, status) => {
    const things: Route = { method: 'GET', path: '/things/:id', auth: 'none', handler: () => () => 'thing' };
    const response = await serverWith(things).inject(url);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toEqual({ error: expect.any(String), fix: expect.any(String) });
    expect(response.headers['x-content-type-options']).toBe('nosniff');
  });

  it('are 413 beyond 32 MB and 404 off the routes', async () => {
    const large = await post(route('none'), {}, 'x'.repeat(maxBodyBytes + 1));
    expect(large.statusCode).toBe(413);
    expect(large.json()).toEqual({ error: expect.stringMatching(/32 MB/), fix: expect.stringMatching(/max_alerts/) });
    const missing = await serverWith().inject('/nowhere?token=x');
    expect(missing.statusCode).toBe(404);
    expect(missing.json().error).toBe('there is no GET /nowhere');
  });
});

describe('loadRoutes', () => {
  it('finds the routes by folder, and health alone is open to everybody', async () => {
    const routes = await loadRoutes();
    const open = routes.filter(({ auth }) => auth === 'none').map(({ path }) => path);
    expect(open.sort()).toEqual(['/healthz', '/readyz']);
    expect(routes.find(({ path }) => path === '/webhooks/alertmanager')).toMatchObject({
      method: 'POST',
      auth: 'webhook',
    });
    expect(routes.find(({ path }) => path === '/metrics')).toMatchObject({ auth: 'webhook-or-loopback' });
  });

  it('names the file that is no route', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-routes-'));
    await mkdir(join(folder, 'webhooks'));
    await writeFile(join(folder, 'webhooks', 'broken.ts'), "export const forgotten = 'the default export';");
    await expect(loadRoutes(folder)).rejects.toThrow(/webhooks\/broken\.ts has no default export/);
    await rm(folder, { recursive: true });
  });
});
