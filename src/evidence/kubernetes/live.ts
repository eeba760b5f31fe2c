import type { KubeObject } from '../../domain/kubernetes.ts';
import type { KubernetesReader, ListOptions, Read, Resource } from '../../triage/ports.ts';
import { refuseSecrets, resources } from '../../triage/resources.ts';
import { type Answer, type ApiClient, apiClient } from './api-client.ts';
import { readableObject } from './bounded.ts';
import type { Connection } from './connection.ts';
import { defaultCallTimeoutMs, gapForFailure, gapForName, gapForStatus, type ResourceRequest } from './gaps.ts';
import { maxLogBytes, tailOf } from './log-tail.ts';
import { groupPath, isPathSegment, pathOf } from './paths.ts';

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

type Pages = { ok: true; value: KubeObject[]; complete: boolean } | Extract<Answer, { ok: false }>;

/** Items of a list leave out what the list's own kind says: `PodList` holds Pods. */
const typed = (item: KubeObject, list: { apiVersion: string; kind: string }): KubeObject => ({
  ...item,
  apiVersion: item.apiVersion ?? list.apiVersion,
  kind: item.kind ?? list.kind.replace(/List$/, ''),
});

/** Reads a cluster through an open connection: GETs only, of what triage may read. */
export function liveCluster(connection: Connection, options: LiveOptions = {}): LiveCluster {
  const { callTimeoutMs = defaultCallTimeoutMs, concurrency = 8, pageSize = 500 } = options;
  const client = apiClient(connection, { callTimeoutMs, concurrency });
  return { reader: () => liveReader(client, pageSize, callTimeoutMs) };
}

function liveReader(client: ApiClient, pageSize: number, callTimeoutMs: number): KubernetesReader {
  let calls = 0;
  const onRequest = (): void => {
    calls += 1;
  };

  /** The version of a group that the server prefers; empty where it does not serve the group, undefined if unknown. */
  const servedVersion = async (resource: Resource, request: ResourceRequest): Promise<string | undefined> => {
    const answer = await client.get(groupPath(resource), request, onRequest);
    if (answer.ok) return answer.json?.preferredVersion?.version;
    return answer.status === 404 ? '' : undefined;
  };

  /** One page after another until the bound, the end, or the call's time is reached. */
  const listPages = async (resource: Resource, options: ListOptions, request: ResourceRequest): Promise<Pages> => {
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

  const get = async (resource: Resource, name: string, namespace?: string): Promise<Read<KubeObject>> => {
    refuseSecrets(resource);
    const request: ResourceRequest = { verb: 'get', resource, name, ...(namespace ? { namespace } : {}) };
    if (!isPathSegment(name) || (namespace && !isPathSegment(namespace)))
      return { ok: false, gap: gapForName(request) };
    const answer = await client.get(pathOf(resource, { namespace, name }), request, onRequest);
    if (answer.ok) {
      const value = readableObject(answer.json);
      return value
        ? { ok: true, value, complete: true }
        : { ok: false, gap: gapForFailure('the answer is not an object', request) };
    }
    // A 404 that names the object is about it; any other says that this version is not served.
    if (answer.status !== 404 || answer.json?.details?.name || !resource.group) return { ok: false, gap: answer.gap };
    const version = await servedVersion(resource, request);
    if (!version || version === resource.version) return { ok: false, gap: answer.gap };
    return get({ ...resource, version }, name, namespace);
  };

  const list = async (resource: Resource, options: ListOptions): Promise<Read<KubeObject[]>> => {
    refuseSecrets(resource);
    const { namespace } = options;
    const request: ResourceRequest = { verb: 'list', resource, ...(namespace ? { namespace } : {}) };
    if (namespace && !isPathSegment(namespace)) return { ok: false, gap: gapForName(request) };
    const answer = await listPages(resource, options, request);
    if (answer.ok) return answer;
    // A role that does not know a CRD answers 403 also where the CRD is not installed; discovery is open to all.
    const mayBeAbsent = answer.status === 404 || answer.status === 403;
    if (!mayBeAbsent || !resource.group) return { ok: false, gap: answer.gap };
    const version = await servedVersion(resource, request);
    // What is not installed has no objects: an empty answer, not a gap.
    if (version === '') return { ok: true, value: [], complete: true };
    if (answer.status === 403 || !version || version === resource.version) return { ok: false, gap: answer.gap };
    return list({ ...resource, version }, options);
  };

  return {
    get,
    list,

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
      const answer = await client.get(path, request, onRequest);
      if (!answer.ok) return { ok: false, gap: answer.gap };
      return { ok: true, ...tailOf(answer.text, tailLines, maxLogBytes) };
    },

    async probe(path) {
      const request = { verb: 'get', path } as const;
      const answer = await client.getRaw(`/${path}?verbose`, request, onRequest);
      if (!answer.ok) return answer;
      const { status, body } = answer.response;
      if (status === 401 || status === 403)
        return { ok: false, gap: gapForStatus(status, body.slice(0, 300), request) };
      return { ok: true, value: { path, status, body, latencyMs: answer.latencyMs }, complete: true };
    },

    get calls() {
      return calls;
    },
  };
}
