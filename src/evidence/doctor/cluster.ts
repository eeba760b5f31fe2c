import pLimit from 'p-limit';
import { type ClusterAccess, ClusterAccessError } from '../kubernetes/access.ts';
import type { ApiResponse, Connection } from '../kubernetes/connection.ts';
import { describePermission, healthPaths, type Permission, permissions } from '../kubernetes/permissions.ts';
import type { Check, CheckGroup } from './check.ts';

/** Reviews in flight at once: doctor may be run on a cluster in trouble. */
const concurrency = 8;

/**
 * The connection to a cluster and each right that triage makes use of, by SelfSubjectAccessReview. Never throws:
 * an access that is misconfigured or a server that is away is the one failed check.
 */
export async function checkCluster(name: string, access: ClusterAccess, timeoutMs = 10_000): Promise<CheckGroup> {
  const title = `cluster ${name}`;
  let connection: Connection;
  try {
    const { connect } = await import('../kubernetes/connection.ts');
    connection = connect(access);
  } catch (error) {
    if (!(error instanceof ClusterAccessError)) throw error;
    return {
      title,
      checks: [failed('connection', error.message, 'correct kubeconfig, context or inCluster of this cluster')],
    };
  }
  try {
    const reached = await checkConnection(connection, timeoutMs);
    if (reached.status === 'failed') return { title, checks: [reached] };
    const groups = await servedGroups(connection, timeoutMs);
    const limit = pLimit(concurrency);
    const rights = permissions().map((right) => limit(() => checkRight(connection, right, groups, timeoutMs)));
    const paths = healthPaths.map((path) => limit(() => checkPath(connection, path, timeoutMs)));
    return { title, checks: [reached, ...(await Promise.all([...rights, ...paths]))] };
  } finally {
    connection.close();
  }
}

const failed = (name: string, detail: string, fix: string): Check => ({ name, status: 'failed', detail, fix });

async function checkConnection(connection: Connection, timeoutMs: number): Promise<Check> {
  const { server } = connection;
  try {
    const response = await connection.get('/version', AbortSignal.timeout(timeoutMs));
    const version = jsonOf(response)?.gitVersion;
    if (response.status === 200 && version)
      return { name: 'connection', status: 'ok', detail: `Kubernetes ${version} at ${server}` };
    const fix =
      response.status === 401 ? 'renew the credentials of this cluster' : `check that ${server} is an API server`;
    return failed('connection', `${server} answered ${response.status}`, fix);
  } catch (error) {
    const fix = 'check address, network and credentials: kubectl version';
    return failed('connection', `${server} cannot be reached: ${(error as Error).message}`, fix);
  }
}

/** Groups that the server serves; null where it does not say. */
async function servedGroups(connection: Connection, timeoutMs: number): Promise<Set<string> | null> {
  try {
    const groups = jsonOf(await connection.get('/apis', AbortSignal.timeout(timeoutMs)))?.groups;
    return Array.isArray(groups) ? new Set(['', ...groups.map((group: { name: string }) => group.name)]) : null;
  } catch {
    return null;
  }
}

function checkRight(
  connection: Connection,
  right: Permission,
  served: Set<string> | null,
  timeoutMs: number,
): Promise<Check> | Check {
  const name = describePermission(right);
  if (served && !served.has(right.group)) return { name, status: 'skipped', detail: 'not installed' };
  const { verb, group, resource, subresource } = right;
  const resourceAttributes = { verb, group, resource, subresource };
  return review(connection, name, { resourceAttributes }, timeoutMs);
}

const checkPath = (connection: Connection, path: string, timeoutMs: number): Promise<Check> =>
  review(connection, `get ${path}`, { nonResourceAttributes: { verb: 'get', path } }, timeoutMs);

async function review(connection: Connection, name: string, spec: object, timeoutMs: number): Promise<Check> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
  try {
    const response = await connection.reviewAccess(body, AbortSignal.timeout(timeoutMs));
    const status = jsonOf(response)?.status;
    if (response.status !== 201 || typeof status?.allowed !== 'boolean') {
      return failed(
        name,
        `the access review was answered ${response.status}`,
        'ask again; each user may review itself by default',
      );
    }
    if (status.allowed) return { name, status: 'ok', detail: 'allowed' };
    return failed(name, status.reason || 'not allowed', `grant \`${name}\`: kubectl apply -f deploy/clusterrole.yaml`);
  } catch (error) {
    return failed(name, (error as Error).message, 'ask again: kubectl auth can-i --list');
  }
}

function jsonOf(response: ApiResponse): any {
  try {
    return JSON.parse(response.body);
  } catch {
    return undefined;
  }
}
