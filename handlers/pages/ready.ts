import type { Route } from '../../src/http/route.ts';

/** Shorter than the kubelet's default probe period of 10 s. */
const patienceMs = 2000;

const answers = async (check: () => Promise<void>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, patienceMs, false);
  check().then(
    () => resolve(true),
    () => resolve(false),
  );
  return promise.finally(() => clearTimeout(timer));
};

/** Can alerts be taken? Says which neighbour is away and not why: the page is open to everybody, the log is not. */
export default {
  method: 'GET',
  path: '/readyz',
  auth: 'none',
  handler:
    ({ checks }) =>
    async (_request, reply) => {
      const [database, queue] = await Promise.all([answers(checks.database), answers(checks.queue)]);
      const word = (up: boolean): string => (up ? 'ok' : 'unavailable');
      return reply.code(database && queue ? 200 : 503).send({ database: word(database), queue: word(queue) });
    },
} satisfies Route;
