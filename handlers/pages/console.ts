import { sendHtml } from '../../src/console/csp.ts';
import { listEntries } from '../../src/console/list.ts';
import { consolePage, missingThread, threadHtml } from '../../src/console/pages.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'GET',
  path: '/',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    const entries = await listEntries(deps.store, deps.view);
    const wanted = (request.query as { incident?: string }).incident;
    // A link may name an incident that has left the list, and never shows another one in its place.
    const gone = wanted !== undefined && (await deps.view(wanted)) === null;
    const chosen = gone ? null : (wanted ?? entries[0]?.incident.id ?? null);
    const thread = chosen ? threadHtml(await deps.outbox.thread(chosen)) : null;
    return sendHtml(reply.code(gone ? 404 : 200), consolePage(entries, chosen, gone ? missingThread() : thread));
  },
} satisfies Route;
