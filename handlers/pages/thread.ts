import { sendHtml } from '../../src/console/csp.ts';
import { threadHtml } from '../../src/console/pages.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'GET',
  path: '/incidents/:id/thread',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    const { id } = request.params as { id: string };
    return sendHtml(reply, threadHtml(await deps.outbox.thread(id)));
  },
} satisfies Route;
