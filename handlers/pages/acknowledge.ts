import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'POST',
  path: '/incidents/:id/acknowledge',
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const { id } = request.params as { id: string };
    if (!(await deps.acknowledge(id, 'local console')))
      throw new HttpError(409, 'already acknowledged', 'reload the thread');
    return { ok: true };
  },
} satisfies Route;
