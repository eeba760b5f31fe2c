import type { Route } from '../../src/http/route.ts';

/** A figure that cannot be read is left out; the scrape must not fail with the database it would report on. */
const orNull = <T>(reading: Promise<T>): Promise<T | null> => reading.catch(() => null);

/** Prometheus scrapes from elsewhere with a webhook token, from this machine without. */
export default {
  method: 'GET',
  path: '/metrics',
  auth: 'webhook-or-loopback',
  handler: (deps) => async (_request, reply) => {
    const [outboxDepth, deadJobs, heartbeats] = await Promise.all([
      orNull(deps.outboxDepth()),
      orNull(deps.deadJobs()),
      orNull(deps.store.heartbeats()),
    ]);
    const { contentType, body } = await deps.metrics.scrape({ outboxDepth, deadJobs, heartbeats, now: deps.now() });
    return reply.type(contentType).send(body);
  },
} satisfies Route;
