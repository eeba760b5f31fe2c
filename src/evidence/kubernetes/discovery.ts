import type { Resource } from '../../triage/ports.ts';
import type { ApiClient } from './api-client.ts';

/** What is installed in a cluster changes rarely; a newer answer is fetched while the former one is used. */
const freshForMs = 5 * 60_000;

/**
 * Aggregated discovery: one answer for all groups (Kubernetes 1.27+, GA in 1.30). Older servers answer the last type, the
 * plain list of groups.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
 */
const accept = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** Versions of one group, the preferred one first. `plurals` is null where the server does not tell them. */
type Group = { version: string; plurals: Set<string> | null }[];

/** What an API server serves beyond the built-in groups. */
export interface Discovery {
  /**
   * The version in which a resource is served: the catalogue's where it is among them. Empty where it is not served,
   * undefined where the server does not tell.
   */
  versionOf(resource: Resource, onRequest: () => void): Promise<string | undefined>;
}

/** Asks once and keeps the answer for minutes. `now` in ms. */
export const discovery = (client: ApiClient, now: () => number = () => performance.now()): Discovery => {
  let kept: Map<string, Group> | undefined;
  let keptAtMs = 0;
  let asking: Promise<Map<string, Group> | undefined> | undefined;

  const ask = async (onRequest: () => void): Promise<Map<string, Group> | undefined> => {
    const answer = await client.get('/apis', { verb: 'get', path: 'apis' }, onRequest, accept);
    const groups = answer.ok ? groupsOf(answer.json) : undefined;
    if (groups) [kept, keptAtMs] = [groups, now()];
    return kept;
  };

  const known = async (onRequest: () => void): Promise<Map<string, Group> | undefined> => {
    if (kept && now() - keptAtMs < freshForMs) return kept;
    asking ??= ask(onRequest).finally(() => {
      asking = undefined;
    });
    return kept ?? asking;
  };

  return {
    async versionOf(resource, onRequest) {
      const groups = await known(onRequest);
      if (!groups) return undefined;
      const versions = groups.get(resource.group) ?? [];
      const serving = versions
        .filter(({ plurals }) => plurals?.has(resource.plural) ?? true)
        .map(({ version }) => version);
      return serving.includes(resource.version) ? resource.version : (serving[0] ?? '');
    },
  };
};

/** Of an aggregated answer, or of the plain list of groups that knows no resources. */
const groupsOf = (answer: any): Map<string, Group> | undefined => {
  if (Array.isArray(answer?.items)) {
    return new Map(
      answer.items.map((group: any) => [
        group.metadata?.name ?? '',
        (group.versions ?? []).map((entry: any) => ({
          version: entry.version,
          // The server of an aggregated group that does not answer leaves its resources out.
          plurals: entry.freshness === 'Stale' ? null : new Set((entry.resources ?? []).map((it: any) => it.resource)),
        })),
      ]),
    );
  }
  if (!Array.isArray(answer?.groups)) return undefined;
  return new Map(
    answer.groups.map((group: any) => {
      const names: string[] = (group.versions ?? []).map(({ version }: any) => version);
      const preferred = group.preferredVersion?.version;
      const ordered = preferred ? [preferred, ...names.filter((name) => name !== preferred)] : names;
      return [group.name, ordered.map((version) => ({ version, plurals: null }))];
    }),
  );
};
