import { sendHtml } from '../../src/console/csp.ts';
import { incidentPage } from '../../src/console/incident-page.ts';
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
    const [rows, reasoning] = await Promise.all([deps.outbox.thread(id), deps.reasoning(id)]);
    return sendHtml(reply, incidentPage(view, rows, reasoning));
  },
} satisfies Route;
