import type { Gap, GapReason } from '../../domain/facts.ts';
import type { Resource } from '../../triage/ports.ts';
import { isNamespaced, qualifiedName } from '../../triage/resources.ts';

/** What was asked, in RBAC's words. */
export interface ResourceRequest {
  verb: 'get' | 'list';
  resource: Resource;
  /** `log` for container logs. */
  subresource?: 'log';
  name?: string;
  namespace?: string;
}

/** A health endpoint of the API server itself, or what it serves. */
interface ProbeRequest {
  verb: 'get';
  path: 'readyz' | 'livez' | 'apis';
}

export type Request = ResourceRequest | ProbeRequest;

/**
 * The longest a call may take before the reader gives up, retries included. Above the 30 s after which
 * etcd-bound requests and kubelet dials answer with their own error, below the API server's 60 s request timeout.
 */
export const defaultCallTimeoutMs = 30_000;

const rbacName = ({ resource, subresource }: ResourceRequest): string =>
  qualifiedName({ ...resource, plural: resource.plural + (subresource ? `/${subresource}` : '') });

const place = (request: ResourceRequest): string => {
  if (request.namespace) return ` in ${request.namespace}`;
  return request.verb === 'list' && isNamespaced(request.resource) ? ' in all namespaces' : '';
};

/** `cannot list events in secure`; with a name, `cannot get pods web-0 in shop`. */
const describeRequest = (request: Request): string =>
  'path' in request
    ? `cannot get /${request.path}`
    : `cannot ${request.verb} ${rbacName(request)}${request.name ? ` ${request.name}` : ''}${place(request)}`;

/** The Gap for an HTTP status that the API server answered. `message` is the Status object's own text. */
export function gapForStatus(status: number, message: string, request: Request): Gap {
  const problem = describeRequest(request);
  const said = message ? `${status} ${message}` : `HTTP ${status}`;
  if (status === 401) {
    return {
      reason: 'forbidden',
      message: `${problem}: ${said}`,
      fix: 'renew the credentials of this cluster: the API server does not accept them',
    };
  }
  if (status === 403) return forbidden(request, said);
  if (status === 404) {
    return { reason: 'not-found', message: `${problem}: ${said}`, fix: 'none: the object does not exist (any more)' };
  }
  if (status === 400 && 'subresource' in request) {
    // "previous terminated container … not found", "container … is waiting to start": there is no such log.
    return { reason: 'not-found', message: `${problem}: ${said}`, fix: 'none: the container has written no such log' };
  }
  const reason: GapReason = status === 408 || status === 504 ? 'timeout' : 'failed';
  return { reason, message: `${problem}: ${said}`, fix: `retry: kubectl ${kubectlLine(request)}` };
}

const forbidden = (request: Request, said: string): Gap => ({
  reason: 'forbidden',
  message: `${describeRequest(request)}: ${said}`,
  fix:
    'path' in request
      ? `grant \`get\` on the non-resource URL /${request.path} (deploy/clusterrole.yaml)`
      : `grant \`${request.verb} ${rbacName(request)}\`${place(request)} (deploy/clusterrole.yaml)`,
});

export const gapForTimeout = (timeoutMs: number, request: Request): Gap => ({
  reason: 'timeout',
  message: `${describeRequest(request)}: no answer within ${timeoutMs} ms`,
  fix: `retry: kubectl ${kubectlLine(request)}`,
});

/** A name that no object can have, such as `..`, never becomes part of a request's path. */
export const gapForName = (request: Request): Gap => gapForStatus(404, 'no object can have this name', request);

/** The connection or the transport failed before there was a status. */
export const gapForFailure = (problem: string, request: Request): Gap => ({
  reason: 'failed',
  message: `${describeRequest(request)}: ${problem}`,
  fix: `check the connection: kubectl ${kubectlLine(request)}`,
});

/** The snapshot does not hold this kind, or this log: which says nothing about the cluster. */
export const gapNotCollected = (what: string, fix: string): Gap => ({
  reason: 'not-collected',
  message: `${what} not in the snapshot`,
  fix,
});

/** The kubectl arguments that repeat a request. */
export function kubectlLine(request: Request): string {
  if ('path' in request) return `get --raw '/${request.path}${request.path === 'apis' ? '' : '?verbose'}'`;
  const namespace = request.namespace ? ` -n ${request.namespace}` : '';
  if (request.subresource === 'log') return `logs ${request.name}${namespace}`;
  const all = !request.namespace && request.verb === 'list' && isNamespaced(request.resource) ? ' -A' : '';
  return `get ${qualifiedName(request.resource)}${request.name ? ` ${request.name}` : ''}${namespace}${all}`;
}
