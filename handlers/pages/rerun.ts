import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

export default {
  method: 'POST',
  path: '/incidents/:id/rerun',
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const { id } = request.params as { id: string };
    if (!(await deps.rerun(id, 'local console')))
      throw new HttpError(409, 'a run is under way', 'wait for its verdict');
    return { ok: true };
  },
} satisfies Route;
