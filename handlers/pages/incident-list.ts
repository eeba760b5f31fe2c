import { sendHtml } from '../../src/console/csp.ts';
import { listEntries } from '../../src/console/list.ts';
import { incidentList } from '../../src/console/pages.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'GET',
  path: '/incidents',
  auth: 'loopback',
  handler: (deps) => async (request, reply) => {
    const { chosen } = request.query as { chosen?: string };
    return sendHtml(reply, incidentList(await listEntries(deps.store, deps.view), chosen ?? null));
  },
} satisfies Route;
