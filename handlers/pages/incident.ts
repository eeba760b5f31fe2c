import { sendHtml } from '../../src/console/csp.ts';
import { incidentPage } from '../../src/console/pages.ts';
import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'GET',
  path: '/incidents/:id',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    const { id } = request.params as { id: string };
    const view = await deps.view(id);
    if (!view) throw new HttpError(404, `there is no incident ${id}`, 'open / for the list');
    return sendHtml(reply, incidentPage(view, await deps.outbox.thread(id), new Date(deps.now())));
  },
} satisfies Route;
