import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

/** The incident's folder of facts, for `faultline snapshot --incident`: `{files: {path: content}}`. */
export default {
  method: 'GET',
  path: '/incidents/:id/case',
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const { id } = request.params as { id: string };
    const [found, another] = await deps.store.withPrefix(id);
    if (!found || another)
      throw new HttpError(
        404,
        `${found ? 'several incidents begin' : 'no incident begins'} with ${id}`,
        'faultline incident list shows the ids',
      );
    const files = await deps.incidentCase(found);
    if (!files) throw new HttpError(409, 'nothing of this incident was read yet', 'wait for its verdict');
    return { files: Object.fromEntries(files) };
  },
} satisfies Route;
