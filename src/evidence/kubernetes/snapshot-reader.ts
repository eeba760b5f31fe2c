import type { Gap } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { KubernetesReader, Read, Resource } from '../../triage/ports.ts';
import { qualifiedName, refuseSecrets, resources } from '../../triage/resources.ts';
import type { ApiServerAnswers } from './case-file.ts';
import {
  gapForFailure,
  gapForStatus,
  gapForTimeout,
  gapNotCollected,
  kubectlLine,
  type ResourceRequest,
} from './gaps.ts';
import { maxLogBytes, tailOf } from './log-tail.ts';
import { compileSelectors, SelectorError } from './selectors.ts';
import { SnapshotError } from './snapshot-error.ts';
import type { SnapshotLogs } from './snapshot-logs.ts';
import { groupOf } from './snapshot-objects.ts';

export interface SnapshotContents {
  objects: KubeObject[];
  /** Kinds that were asked for, whether or not there were any. */
  collected: string[];
  apiserver: ApiServerAnswers | undefined;
  logs: SnapshotLogs;
}

/** `plural[.group][/subresource]`; with no group any group is meant. */
function names(pattern: string, request: ResourceRequest): boolean {
  const [resource = '', subresource] = pattern.split('/');
  if (subresource !== request.subresource) return false;
  const dot = resource.indexOf('.');
  return dot < 0 ? resource === request.resource.plural : resource === qualifiedName(request.resource);
}

/** What the recorded API server would not have answered: a denial, a failure, a time beyond ours. */
function refusal(apiserver: ApiServerAnswers | undefined, request: ResourceRequest, timeoutMs: number): Gap | null {
  if (!apiserver) return null;
  if (apiserver.deny.some((pattern) => names(pattern, request))) return gapForStatus(403, 'Forbidden', request);
  const failure = apiserver.fail.find(({ resource }) => resource === '*' || names(resource, request));
  if (Math.max(failure?.latency_ms ?? 0, apiserver.latency_ms) > timeoutMs) return gapForTimeout(timeoutMs, request);
  return failure ? gapForStatus(failure.status, failure.message, request) : null;
}

/** Reads an incident folder's contents with the semantics of a live API server. Latency is compared, never slept. */
export function snapshotReader(contents: SnapshotContents, timeoutMs: number): KubernetesReader {
  const { objects, apiserver, logs } = contents;
  const byType = Map.groupBy(objects, (object) => `${groupOf(object)}/${object.kind}`);
  const collected = new Set(contents.collected);
  let calls = 0;

  const objectsOf = (resource: Resource): KubeObject[] | Gap => {
    const found = byType.get(`${resource.group}/${resource.kind}`);
    if (found) return found;
    if (collected.has(resource.kind)) return [];
    const all: ResourceRequest = { verb: 'list', resource };
    const fix = `kubectl ${kubectlLine(all)} -o json > cluster/${qualifiedName(resource)}.json`;
    return gapNotCollected(`${qualifiedName(resource)} are`, fix);
  };

  const prepare = (request: ResourceRequest): KubeObject[] | Gap => {
    refuseSecrets(request.resource);
    calls += 1;
    return refusal(apiserver, request, timeoutMs) ?? objectsOf(request.resource);
  };

  return {
    async get(resource, name, namespace): Promise<Read<KubeObject>> {
      const request: ResourceRequest = { verb: 'get', resource, name, ...(namespace ? { namespace } : {}) };
      const answer = prepare(request);
      if (!Array.isArray(answer)) return { ok: false, gap: answer };
      const found = answer.find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === (namespace ?? ''),
      );
      if (found) return { ok: true, value: found, complete: true };
      const message = `${qualifiedName(resource)} "${name}" not found`;
      return { ok: false, gap: gapForStatus(404, message, request) };
    },

    async list(resource, options): Promise<Read<KubeObject[]>> {
      const { namespace, limit } = options;
      const request: ResourceRequest = { verb: 'list', resource, ...(namespace ? { namespace } : {}) };
      const answer = prepare(request);
      if (!Array.isArray(answer)) return { ok: false, gap: answer };
      try {
        const matching = answer.filter(compileSelectors(resource, options));
        return { ok: true, value: matching.slice(0, limit), complete: matching.length <= limit };
      } catch (error) {
        if (error instanceof SelectorError) return { ok: false, gap: gapForStatus(400, error.message, request) };
        throw error;
      }
    },

    async log(namespace, pod, container, { previous, tailLines }): Promise<Read<string>> {
      calls += 1;
      const request: ResourceRequest = {
        verb: 'get',
        resource: resources.pods,
        subresource: 'log',
        name: pod,
        namespace,
      };
      const gap = refusal(apiserver, request, timeoutMs);
      if (gap) return { ok: false, gap };
      let text: string | null;
      try {
        text = await logs.read(namespace, pod, container, previous);
      } catch (error) {
        if (error instanceof SnapshotError) return { ok: false, gap: gapForFailure(error.message, request) };
        throw error;
      }
      if (text === null) {
        const flag = previous ? ' --previous' : '';
        const file = `logs/${namespace}/${pod}/${container}${previous ? '.previous' : ''}.log`;
        const fix = `kubectl logs ${pod} -n ${namespace} -c ${container}${flag} > ${file}`;
        return { ok: false, gap: gapNotCollected(`the log of ${namespace}/${pod}/${container} is`, fix) };
      }
      return { ok: true, ...tailOf(text, tailLines, maxLogBytes) };
    },

    async probe(path) {
      calls += 1;
      const answer = apiserver?.[path];
      if (!apiserver || !answer) {
        const fix = `kubectl get --raw '/${path}?verbose' into case.json as apiserver.${path} {status, body}`;
        return { ok: false, gap: gapNotCollected(`the API server's ${path} is`, fix) };
      }
      const latencyMs = apiserver.latency_ms;
      if (latencyMs > timeoutMs) return { ok: false, gap: gapForTimeout(timeoutMs, { verb: 'get', path }) };
      return { ok: true, value: { path, status: answer.status, body: answer.body, latencyMs }, complete: true };
    },

    get calls() {
      return calls;
    },
  };
}
