import { readFile } from 'node:fs/promises';
import { HttpError } from '../../src/http/errors.ts';
import type { Route } from '../../src/http/route.ts';

const types: Record<string, string> = {
  'console.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
};

export default {
  method: 'GET',
  path: '/assets/:name',
  auth: 'loopback',
  handler: () => async (request, reply) => {
    const { name } = request.params as { name: string };
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!type) throw new HttpError(404, 'there is no such asset', 'reload the page');
    reply.header('content-type', type);
    return readFile(new URL(`../../src/console/assets/${name}`, import.meta.url));
  },
} satisfies Route;
