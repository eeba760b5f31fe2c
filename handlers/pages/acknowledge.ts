import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'POST',
  path: '/incidents/:id/acknowledge',
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const { id } = request.params as { id: string };
    const refusal = await deps.act(id, { action: 'acknowledge' }, 'local console');
    if (refusal === 'unknown') throw new HttpError(404, `there is no incident ${id}`, 'open / for the list');
    if (refusal) throw new HttpError(409, 'already acknowledged, or not open', 'reload the thread');
    return { ok: true };
  },
} satisfies Route;
