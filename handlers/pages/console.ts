import { sendHtml } from '../../src/console/csp.ts';
import { listEntries } from '../../src/console/list.ts';
import { consolePage, threadHtml } from '../../src/console/pages.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'GET',
  path: '/',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    const entries = await listEntries(deps.store, deps.view);
    const wanted = (request.query as { incident?: string }).incident;
    const chosen =
      entries.find((entry) => entry.incident.id === wanted)?.incident.id ?? entries[0]?.incident.id ?? null;
    const thread = chosen ? threadHtml(await deps.outbox.thread(chosen), new Date(deps.now())) : null;
    return sendHtml(reply, consolePage(entries, chosen, thread));
  },
} satisfies Route;
