import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Route } from './route.ts';

const handlers = fileURLToPath(new URL('../../handlers', import.meta.url));

const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'path' in value && 'auth' in value && 'handler' in value;

/** The routes below `handlers/webhooks` and `handlers/pages`: adding one is adding a file. */
export const loadRoutes = async (folder = handlers): Promise<Route[]> => {
  const routes: Route[] = [];
  for (const kind of ['webhooks', 'pages']) {
    const files = await readdir(join(folder, kind), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts')).sort()) {
      const path = join(folder, kind, file);
      const { default: route } = await import(pathToFileURL(path).href);
      if (!isRoute(route)) throw new Error(`${path} has no default export of the form {method, path, auth, handler}`);
      routes.push(route);
    }
  }
  return routes;
};
