import type { Route } from '../../src/http/route.ts';

/** The process lives and its event loop turns; nothing else is asked, so that a lost database restarts nobody. */
export default {
  method: 'GET',
  path: '/healthz',
  auth: 'none',
  handler: () => async () => ({ status: 'ok' }),
} satisfies Route;
