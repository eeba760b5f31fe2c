import type { Route } from '../../src/http/route.ts';

/** Keeps proxies and browsers from closing a quiet stream. */
const heartbeatMs = 20_000;

/** Server-sent events: the id of each incident that changed. */
export default {
  method: 'GET',
  path: '/changes',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    reply.raw.write(': open\n\n');
    const stop = deps.onChange((incidentId) => reply.raw.write(`data: ${incidentId}\n\n`));
    const heartbeat = setInterval(() => reply.raw.write(': still here\n\n'), heartbeatMs);
    request.raw.on('close', () => {
      clearInterval(heartbeat);
      stop();
    });
  },
} satisfies Route;
