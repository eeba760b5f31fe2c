import type { KubeObject } from '../../domain/kubernetes.ts';
import type { KubernetesReader, ListOptions, Read, Resource } from '../../triage/ports.ts';
import { isBuiltIn, refuseSecrets, resources } from '../../triage/resources.ts';
import { type Answer, type ApiClient, apiClient } from './api-client.ts';
import { readableObject } from './bounded.ts';
import type { Connection } from './connection.ts';
import { type Discovery, discovery } from './discovery.ts';
import { defaultCallTimeoutMs, gapForFailure, gapForName, gapForStatus, type ResourceRequest } from './gaps.ts';
import { maxLogBytes, tailOf } from './log-tail.ts';
import { isPathSegment, pathOf } from './paths.ts';

export interface LiveOptions {
  /** Per call, queueing, waiting and retries included. */
  callTimeoutMs?: number;
  /** Requests in flight to the API server at once, over all readers of the cluster. */
  concurrency?: number;
  /** Objects per page, as kubectl's default --chunk-size. */
  pageSize?: number;
}

/** One cluster, shared by all triages of it: they share its limits and their identical calls in flight. */
export interface LiveCluster {
  /** A reader that counts its own requests. */
  reader(): KubernetesReader;
}

/** limitBytes counts from the tail's beginning, so more is asked for than is kept from its end. */
const logRequestBytes = 4 * maxLogBytes;

/** What all readers of one cluster share. */
interface Shared {
  client: ApiClient;
  served: Discovery;
  pageSize: number;
  callTimeoutMs: number;
}

type Pages = { ok: true; value: KubeObject[]; complete: boolean } | Extract<Answer, { ok: false }>;

/** Items of a list leave out what the list's own kind says: `PodList` holds Pods. */
const typed = (item: KubeObject, list: { apiVersion: string; kind: string }): KubeObject => ({
  ...item,
  apiVersion: item.apiVersion ?? list.apiVersion,
  kind: item.kind ?? list.kind.replace(/List$/, ''),
});

/** Reads a cluster through an open connection: GETs only, of what triage may read. */
export function liveCluster(connection: Connection, options: LiveOptions = {}): LiveCluster {
  const { callTimeoutMs = defaultCallTimeoutMs, concurrency = 16, pageSize = 500 } = options;
  const client = apiClient(connection, { callTimeoutMs, concurrency });
  const shared: Shared = { client, served: discovery(client), pageSize, callTimeoutMs };
  return { reader: () => liveReader(shared) };
}

function liveReader({ client, served, pageSize, callTimeoutMs }: Shared): KubernetesReader {
  let calls = 0;

  /** Counts the requests of one read; one that sent none cost nothing. */
  const counted = async <T>(work: (onRequest: () => void) => Promise<Read<T>>): Promise<Read<T>> => {
    let sent = 0;
    const read = await work(() => {
      calls += 1;
      sent += 1;
    });
    return sent === 0 ? { ...read, free: true } : read;
  };

  /** The resource in a version that the server has; null where it has none. */
  const inServedVersion = async (resource: Resource, onRequest: () => void): Promise<Resource | null> => {
    if (isBuiltIn(resource)) return resource;
    const version = await served.versionOf(resource, onRequest);
    return version === '' ? null : { ...resource, version: version ?? resource.version };
  };

  /** After a 404 that is not about an object: the version to ask for instead, if there is another one. */
  const otherVersion = async (resource: Resource, onRequest: () => void): Promise<Resource | null> => {
    const version = resource.group ? await served.versionOf(resource, onRequest) : undefined;
    return version && version !== resource.version ? { ...resource, version } : null;
  };

  /** One page after another until the bound, the end, or the call's time is reached. */
  const listPages = async (
    resource: Resource,
    options: ListOptions,
    request: ResourceRequest,
    onRequest: () => void,
  ): Promise<Pages> => {
    const { namespace, labelSelector, fieldSelector } = options;
    const startedMs = performance.now();
    const items: KubeObject[] = [];
    let token: string | undefined;
    let resumed = false;
    do {
      const limit = Math.min(pageSize, options.limit - items.length);
      const query = { labelSelector, fieldSelector, limit, continue: token };
      const answer = await client.get(pathOf(resource, { namespace, query }), request, onRequest);
      if (answer.ok) {
        const page = answer.json?.items;
        if (!Array.isArray(page)) return { ok: false, gap: gapForFailure('the answer is not a list', request) };
        const read = page.map((item: KubeObject) => readableObject(typed(item, answer.json)));
        items.push(...read.filter((item) => item !== null));
        token = answer.json.metadata?.continue;
      } else if (answer.status === 410 && answer.json?.metadata?.continue && !resumed) {
        // An expired token comes with one that goes on from the same key in a newer state of the cluster.
        token = answer.json.metadata.continue;
        resumed = true;
      } else if (items.length > 0) {
        return { ok: true, value: items, complete: false };
      } else {
        return answer;
      }
    } while (token && items.length < options.limit && performance.now() - startedMs < callTimeoutMs);
    return { ok: true, value: items, complete: !token };
  };

  const get = async (
    wanted: Resource,
    name: string,
    namespace: string | undefined,
    onRequest: () => void,
  ): Promise<Read<KubeObject>> => {
    const request: ResourceRequest = { verb: 'get', resource: wanted, name, ...(namespace ? { namespace } : {}) };
    if (!isPathSegment(name) || (namespace && !isPathSegment(namespace)))
      return { ok: false, gap: gapForName(request) };
    const resource = await inServedVersion(wanted, onRequest);
    if (!resource) return { ok: false, gap: gapForStatus(404, 'the server has no such kind', request) };
    const answer = await client.get(pathOf(resource, { namespace, name }), request, onRequest);
    if (answer.ok) {
      const value = readableObject(answer.json);
      return value
        ? { ok: true, value, complete: true }
        : { ok: false, gap: gapForFailure('the answer is not an object', request) };
    }
    // A 404 that names the object is about it; any other says that this version is not served.
    if (answer.status !== 404 || answer.json?.details?.name) return { ok: false, gap: answer.gap };
    const other = await otherVersion(resource, onRequest);
    return other ? get(other, name, namespace, onRequest) : { ok: false, gap: answer.gap };
  };

  const list = async (wanted: Resource, options: ListOptions, onRequest: () => void): Promise<Read<KubeObject[]>> => {
    const { namespace } = options;
    const request: ResourceRequest = { verb: 'list', resource: wanted, ...(namespace ? { namespace } : {}) };
    if (namespace && !isPathSegment(namespace)) return { ok: false, gap: gapForName(request) };
    const resource = await inServedVersion(wanted, onRequest);
    // What is not installed has no objects: an empty answer, not a gap.
    if (!resource) return { ok: true, value: [], complete: true };
    const answer = await listPages(resource, options, request, onRequest);
    if (answer.ok) return answer;
    const other = answer.status === 404 ? await otherVersion(resource, onRequest) : null;
    return other ? list(other, options, onRequest) : { ok: false, gap: answer.gap };
  };

  return {
    async get(resource, name, namespace) {
      refuseSecrets(resource);
      return counted((onRequest) => get(resource, name, namespace, onRequest));
    },

    async list(resource, options) {
      refuseSecrets(resource);
      return counted((onRequest) => list(resource, options, onRequest));
    },

    async serves(resource) {
      return (
        (await inServedVersion(resource, () => {
          calls += 1;
        })) !== null
      );
    },

    async log(namespace, pod, container, { previous, tailLines }): Promise<Read<string>> {
      const request: ResourceRequest = {
        verb: 'get',
        resource: resources.pods,
        subresource: 'log',
        name: pod,
        namespace,
      };
      if (![namespace, pod].every(isPathSegment)) return { ok: false, gap: gapForName(request) };
      const query = { container, previous: previous ? 'true' : undefined, tailLines, limitBytes: logRequestBytes };
      const path = pathOf(resources.pods, { namespace, name: pod, subresource: 'log', query });
      return counted(async (onRequest) => {
        const answer = await client.get(path, request, onRequest);
        if (!answer.ok) return { ok: false, gap: answer.gap };
        return { ok: true, ...tailOf(answer.text, tailLines, maxLogBytes) };
      });
    },

    async probe(path) {
      const request = { verb: 'get', path } as const;
      return counted(async (onRequest) => {
        const answer = await client.getRaw(`/${path}?verbose`, request, onRequest);
        if (!answer.ok) return answer;
        const { status, body } = answer.response;
        if (status === 401 || status === 403)
          return { ok: false, gap: gapForStatus(status, body.slice(0, 300), request) };
        return { ok: true, value: { path, status, body, latencyMs: answer.latencyMs }, complete: true };
      });
    },

    get calls() {
      return calls;
    },
  };
}
