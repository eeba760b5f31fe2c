import type { IncomingMessage } from 'node:http';

/** One request in the API's terms. */
export interface ApiRequest {
  method: string;
  /** As it arrived, with its query. */
  url: string;
  authorization: string;
  group: string;
  version: string;
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
  query: URLSearchParams;
  health?: 'readyz' | 'livez';
  /** The group whose versions are asked for. */
  discovery?: string;
  /** `/version` or `/apis`, which tell what the server is. */
  about?: 'version' | 'apis';
  /** `/apis` is asked for all groups with their resources. */
  wantsAggregated: boolean;
  /** The body of a SelfSubjectAccessReview. */
  review?: unknown;
}

export async function parseRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://api');
  const base = {
    method: incoming.method ?? '',
    url: incoming.url ?? '',
    authorization: incoming.headers.authorization ?? '',
    query: searchParams,
    wantsAggregated: /as=APIGroupDiscoveryList/.test(incoming.headers.accept ?? ''),
    ...resourceAt(pathname),
  };
  if (pathname === '/readyz' || pathname === '/livez') return { ...base, health: pathname.slice(1) as 'readyz' };
  if (pathname === '/version' || pathname === '/apis') return { ...base, about: pathname.slice(1) as 'version' };
  const discovery = /^\/apis\/([^/]+)$/.exec(pathname);
  if (discovery) return { ...base, discovery: discovery[1]! };
  if (base.plural === 'selfsubjectaccessreviews' && base.method === 'POST') {
    return { ...base, review: JSON.parse(await bodyOf(incoming)) };
  }
  return base;
}

/** /api/v1/… or /apis/<group>/<version>/…, with or without /namespaces/<namespace>. */
function resourceAt(pathname: string) {
  const parts = pathname.split('/').slice(1).map(decodeURIComponent);
  const [group = '', version = '', ...rest] = parts[0] === 'apis' ? parts.slice(1) : ['', ...parts.slice(1)];
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2;
  const [plural = '', name, subresource] = inNamespace ? rest.slice(2) : rest;
  return { group, version, plural, namespace: inNamespace ? rest[1] : undefined, name, subresource };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
