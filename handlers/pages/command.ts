import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

/** Commands of this machine's command line: `faultline incident …`. The body is the command as text. */
export default {
  method: 'POST',
  path: '/command',
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const text = String(request.body ?? '');
    if (text.length > 4000) throw new HttpError(413, 'the command is too long', 'write at most 4000 characters');
    const { lines } = await deps.command(text, { actor: 'local console', incidentId: null, hasForms: false });
    return { lines };
  },
} satisfies Route;
