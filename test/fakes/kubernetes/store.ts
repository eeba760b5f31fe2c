import type { KubeObject } from '../../../src/domain/kubernetes.ts';
import { compileSelectors, SelectorError } from '../../../src/evidence/kubernetes/selectors.ts';
import { type ReadableResource, resources } from '../../../src/triage/resources.ts';
import { status } from './status.ts';

export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Groups that every API server serves; anything else is a CRD and served only where it is installed. */
const builtInGroups = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'autoscaling',
  'batch',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

const groupOf = ({ apiVersion = '' }: KubeObject): string =>
  apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
const versionOf = ({ apiVersion = '' }: KubeObject): string => apiVersion.split('/').at(-1)!;

const tokenAt = (start: number): string => Buffer.from(String(start)).toString('base64url');

/** Objects with the semantics of a list: selectors, limit, continue and its expiry. */
export class ObjectStore {
  readonly #objects: KubeObject[];
  readonly #present: Set<string>;
  /** So many of the next continue tokens have expired when they arrive, as after a compaction of etcd. */
  expiringTokens = 0;

  /** `collected` (kinds) and `denied` (resources) exist in the cluster though no object of them is known. */
  constructor(objects: KubeObject[], collected: string[], denied: string[]) {
    this.#objects = objects;
    this.#present = new Set([...collected, ...denied.map((resource) => resource.split('.')[0]!)]);
  }

  /** The served resource at this place of the API; null where the server has none. */
  served(group: string, version: string, plural: string): ReadableResource | null {
    const known = Object.values<ReadableResource>(resources).find((r) => r.group === group && r.plural === plural);
    return known && this.servedVersions(group).includes(version) ? { ...known, version } : null;
  }

  /** Versions of a group, by the objects in it; empty where the group is not installed. */
  servedVersions(group: string): string[] {
    const known = Object.values<ReadableResource>(resources).filter((resource) => resource.group === group);
    const stored = this.#objects.filter((object) => groupOf(object) === group).map(versionOf);
    if (stored.length > 0) return [...new Set(stored)];
    const installed =
      builtInGroups.has(group) ||
      known.some(({ kind, plural }) => this.#present.has(kind) || this.#present.has(plural));
    return installed ? [...new Set(known.map(({ version }) => version))] : [];
  }

  servedPlurals(group: string): string[] {
    return Object.values<ReadableResource>(resources)
      .filter((resource) => resource.group === group)
      .map(({ plural }) => plural);
  }

  servedGroups(): string[] {
    const groups = new Set(Object.values<ReadableResource>(resources).map(({ group }) => group));
    return [...groups].filter((group) => group && this.servedVersions(group).length > 0);
  }

  get(resource: ReadableResource, name: string, namespace: string | undefined): Reply {
    const found = this.#all(resource).find(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
    if (found) return { status: 200, body: found };
    const qualified = resource.group ? `${resource.plural}.${resource.group}` : resource.plural;
    const details = { name, ...(resource.group ? { group: resource.group } : {}), kind: resource.plural };
    return status(404, 'NotFound', `${qualified} "${name}" not found`, { details });
  }

  list(resource: ReadableResource, namespace: string | undefined, query: URLSearchParams): Reply {
    const selectors = {
      ...(namespace ? { namespace } : {}),
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
    };
    let matching: KubeObject[];
    try {
      matching = this.#all(resource).filter(compileSelectors(resource, selectors));
    } catch (error) {
      if (error instanceof SelectorError) return status(400, 'BadRequest', error.message);
      throw error;
    }
    return this.#page(resource, matching, Number(query.get('limit') ?? 0), query.get('continue'));
  }

  #page(resource: ReadableResource, matching: KubeObject[], limit: number, token: string | null): Reply {
    const start = token ? Number(Buffer.from(token, 'base64url')) : 0;
    if (token && this.expiringTokens > 0) {
      this.expiringTokens -= 1;
      const metadata = { continue: tokenAt(start) };
      return status(410, 'Expired', 'The provided continue parameter is too old', { metadata });
    }
    const end = limit > 0 ? start + limit : matching.length;
    const more = end < matching.length;
    const page = matching.slice(start, end);
    return {
      status: 200,
      body: {
        kind: `${resource.kind}List`,
        apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
        metadata: {
          resourceVersion: '1000',
          ...(more ? { continue: tokenAt(end), remainingItemCount: matching.length - end } : {}),
        },
        // Built-in types leave kind and apiVersion out of their list's items; custom resources do not.
        items: builtInGroups.has(resource.group)
          ? page.map(({ kind: _kind, apiVersion: _version, ...item }) => item)
          : page,
      },
    };
  }

  #all(resource: ReadableResource): KubeObject[] {
    return this.#objects.filter((object) => object.kind === resource.kind && groupOf(object) === resource.group);
  }
}
