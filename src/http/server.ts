import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { webhookGrant } from './auth.ts';
import type { HandlerDeps } from './deps.ts';
import { answerError, HttpError, maxBodyBytes } from './errors.ts';
import { loopbackRefusal } from './guards.ts';
import type { Route, RouteAuth } from './route.ts';

/** A page may set a header of its own before it answers; these are for everything else. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** A client that does not finish its request gives its socket back. */
const requestTimeoutMs = 60_000;

const authorise = (auth: RouteAuth, { config }: HandlerDeps, request: FastifyRequest): void => {
  if (auth === 'none' || auth === 'slack') return;
  const { authorization } = request.headers;
  if (auth === 'loopback' || (auth === 'webhook-or-loopback' && authorization === undefined)) {
    const refusal = loopbackRefusal(request);
    if (refusal) throw refusal;
    return;
  }
  request.grant = webhookGrant(config.webhooks, authorization);
  if (request.grant) return;
  const { alertmanagerToken, tokens } = config.webhooks;
  const none = !alertmanagerToken && tokens.length === 0;
  const message = none ? 'no webhook token is configured' : 'the webhook token is missing or wrong';
  const fix = none
    ? 'set ALERTMANAGER_WEBHOOK_TOKEN, and the same value in http_config.authorization.credentials of Alertmanager'
    : 'set http_config.authorization.credentials of the receiver in Alertmanager to the configured token';
  throw new HttpError(401, message, fix);
};

/** `%00` in an address: no id of ours holds it, and PostgreSQL takes no text that does. */
const refuseNul = (request: FastifyRequest): void => {
  if (Object.values(request.params as object).some((value) => String(value).includes('\0')))
    throw new HttpError(404, 'nothing has such an id', 'open / for the list');
};

const register = (server: FastifyInstance, route: Route, deps: HandlerDeps): void => {
  const handle = route.handler(deps);
  server.route({
    method: route.method,
    url: route.path,
    // Before the body is read: a stranger's 32 MB are not parsed.
    onRequest: async (request) => {
      authorise(route.auth, deps, request);
      refuseNul(request);
    },
    handler: async (request, reply) => handle(request, reply),
  });
};

/** The HTTP server with its routes, not yet listening. */
export const createServer = (deps: HandlerDeps, routes: Route[], logger?: FastifyBaseLogger): FastifyInstance => {
  const server = Fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    // An address that cannot be read is answered before any hook runs.
    frameworkErrors: (error, request, reply) => answerError(error, request, reply.headers(securityHeaders)),
    logController: new LogController({ disableRequestLogging: true }),
    ...(logger ? { loggerInstance: logger } : {}),
  });
  server.decorateRequest('grant', null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers(securityHeaders);
  });
  server.setErrorHandler(answerError);
  server.setNotFoundHandler(async (request) => {
    throw new HttpError(
      404,
      `there is no ${request.method} ${request.url.split('?')[0]}`,
      'see the README for the routes',
    );
  });
  for (const route of routes) register(server, route, deps);
  return server;
};
