import type { Act, Refusal } from '../domain/act.ts';
import { HttpError } from './errors.ts';
import type { Route } from './route.ts';

/** `POST /incidents/:id/‹name›` of the local console: one act that needs no form. */
export const actRoute = (name: string, act: Act): Route => ({
  method: 'POST',
  path: `/incidents/:id/${name}`,
  auth: 'loopback',
  handler: (deps) => async (request) => {
    const { id } = request.params as { id: string };
    const refusal = await deps.act(id, act, 'local console');
    if (refusal === 'unknown') throw new HttpError(404, `there is no incident ${id}`, 'open / for the list');
    if (refusal) throw new HttpError(409, wordsOf[refusal] ?? 'that is not possible now', 'reload the thread');
    return { ok: true };
  },
});

const wordsOf: Partial<Record<Refusal, string>> = {
  acknowledgedBefore: 'already acknowledged',
  resolved: 'it is resolved',
  open: 'it is open',
};
