import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { caseFile } from '../../../src/evidence/kubernetes/case-file.ts';
import { listSnapshotFiles, readChecked } from '../../../src/evidence/kubernetes/snapshot-files.ts';
import { indexLogs } from '../../../src/evidence/kubernetes/snapshot-logs.ts';
import { loadObjects } from '../../../src/evidence/kubernetes/snapshot-objects.ts';
import { type ApiRequest, parseRequest } from './request.ts';
import { forbidden, status } from './status.ts';
import { ObjectStore, type Reply } from './store.ts';

/** Something that goes wrong for the next matching requests. */
interface Fault {
  /** Plural resource with its subresource (`pods/log`), or a health path (`readyz`). */
  resource: string;
  /** How many requests it meets; absent: all. */
  times?: number;
  latencyMs?: number;
  reply?: Reply;
  /** Break the connection without an answer. */
  reset?: boolean;
}

export interface KubernetesApi {
  url: string;
  /** Path of a kubeconfig whose current context reaches this server. */
  kubeconfig: string;
  /** Every request that arrived, in order. */
  requests: ApiRequest[];
  /** Add to make requests fail. */
  faults: Fault[];
  store: ObjectStore;
  /** The most requests that were in flight at once. */
  readonly peakInFlight: number;
  /** The most requests of which each began after the former's answer: round trips that no parallelism saves. */
  readonly roundTrips: number;
  /** Refuses connections from now on. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const bearer = 'test-bearer';

/** An API server over loopback HTTP that serves an incident folder, with its recorded denials and failures. */
export async function startKubernetesApi(dir: string, tls?: { key: string; cert: string }): Promise<KubernetesApi> {
  const files = await listSnapshotFiles(dir);
  const recorded = await readChecked(files.all.get('case.json'), caseFile);
  const logs = indexLogs(files.all);
  const denied = recorded?.apiserver?.deny ?? [];
  const store = new ObjectStore(await loadObjects(files.objects), recorded?.collected ?? [], denied);
  const requests: ApiRequest[] = [];
  const faults: Fault[] = (recorded?.apiserver?.fail ?? []).map((fail) => ({
    resource: fail.resource,
    latencyMs: fail.latency_ms,
    reply: status(fail.status, 'InternalError', fail.message),
  }));
  const spans: { beginMs: number; endMs: number }[] = [];
  let inFlight = 0;
  let peakInFlight = 0;

  const answer = async (request: ApiRequest): Promise<Reply> => {
    if (request.authorization !== `Bearer ${bearer}`) return status(401, 'Unauthorized', 'Unauthorized');
    if (request.review) return { status: 201, body: reviewed(request.review, denied) };
    if (request.method !== 'GET') return status(405, 'MethodNotAllowed', 'the server does not allow this method');
    if (request.health) {
      const probe = recorded?.apiserver?.[request.health];
      return { status: probe?.status ?? 200, body: probe?.body ?? 'ok' };
    }
    if (request.about === 'version') return { status: 200, body: { gitVersion: 'v1.33.1', major: '1', minor: '33' } };
    if (request.about === 'apis') {
      return { status: 200, body: request.wantsAggregated ? aggregatedDiscovery(store) : groupList(store) };
    }
    if (request.discovery !== undefined) return discovered(store, request.discovery);
    const { group, version, plural, name, namespace, subresource, query } = request;
    // Authorisation comes before routing: what is denied is 403 even where it is not served.
    const full = subresource ? `${plural}/${subresource}` : plural;
    if (denied.some((pattern) => pattern === full || pattern === `${full}.${group}`)) {
      return forbidden(name ? 'get' : 'list', full, group, namespace);
    }
    const resource = store.served(group, version, plural);
    if (!resource) {
      return store.servedVersions(group).includes(version)
        ? status(404, 'NotFound', 'the server could not find the requested resource')
        : { status: 404, body: '404 page not found\n' };
    }
    if (subresource === 'log') return logOf(logs, namespace!, name!, query);
    return name ? store.get(resource, name, namespace) : store.list(resource, namespace, query);
  };

  const serve = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> => {
    inFlight += 1;
    peakInFlight = Math.max(peakInFlight, inFlight);
    const beginMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    outgoing.on('close', () => {
      spans.push({ beginMs, endMs: performance.now() });
      inFlight -= 1;
      clearTimeout(timer);
    });
    const request = await parseRequest(incoming);
    requests.push(request);
    const fault = takeFault(faults, request);
    const reply = fault?.reply ?? (await answer(request));
    const respond = (): void => {
      if (fault?.reset) incoming.socket.destroy();
      else send(outgoing, reply, incoming.headers['accept-encoding'] === 'gzip');
    };
    if (fault?.latencyMs) timer = setTimeout(respond, fault.latencyMs);
    else respond();
  };
  const server = tls ? https.createServer(tls, serve) : http.createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await mkdtemp(join(tmpdir(), 'kubernetes-api-'));
  const kubeconfig = join(home, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(url, { token: bearer }, tls?.cert)));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return {
    url,
    kubeconfig,
    requests,
    faults,
    store,
    get peakInFlight() {
      return peakInFlight;
    },
    get roundTrips() {
      return longestChain(spans);
    },
    stop,
    async close() {
      await stop();
      await rm(home, { recursive: true });
    },
  };
}

/** The one that ends first is always a link of some longest chain. */
const longestChain = (spans: { beginMs: number; endMs: number }[]): number => {
  let links = 0;
  let endMs = Number.NEGATIVE_INFINITY;
  for (const span of spans.toSorted((a, b) => a.endMs - b.endMs)) {
    if (span.beginMs < endMs) continue;
    links += 1;
    endMs = span.endMs;
  }
  return links;
};

/** client-node refuses plain HTTP unless TLS verification is off. */
export const kubeconfigFor = (server: string, user: object, caCertificate?: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  clusters: [
    {
      name: 'test',
      cluster: {
        server,
        ...(caCertificate
          ? { 'certificate-authority-data': Buffer.from(caCertificate).toString('base64') }
          : { 'insecure-skip-tls-verify': true }),
      },
    },
  ],
  users: [{ name: 'test', user }],
});

function takeFault(faults: Fault[], request: ApiRequest): Fault | undefined {
  const target = request.health ?? (request.subresource ? `${request.plural}/${request.subresource}` : request.plural);
  const index = faults.findIndex(({ resource, times = 1 }) => (resource === target || resource === '*') && times > 0);
  const fault = faults[index];
  if (fault?.times !== undefined) fault.times -= 1;
  return fault;
}

function send(outgoing: http.ServerResponse, reply: Reply, acceptsGzip: boolean): void {
  const isText = typeof reply.body === 'string';
  const body = Buffer.from(isText ? (reply.body as string) : JSON.stringify(reply.body));
  // The API server compresses answers above 128 KiB (apiserver/pkg/endpoints/handlers/responsewriters).
  const zipped = acceptsGzip && body.length > 128 * 1024;
  outgoing.writeHead(reply.status, {
    'content-type': isText ? 'text/plain' : 'application/json',
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    ...reply.headers,
  });
  outgoing.end(zipped ? gzipSync(body) : body);
}

/** What `/apis` answers a client that does not ask for aggregated discovery, and servers before 1.27 answer all. */
const groupList = (store: ObjectStore): object => ({
  kind: 'APIGroupList',
  groups: store.servedGroups().map((name) => {
    const versions = store.servedVersions(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  }),
});

const aggregatedDiscovery = (store: ObjectStore): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items: store.servedGroups().map((name) => ({
    metadata: { name },
    versions: store.servedVersions(name).map((version) => ({
      version,
      freshness: 'Current',
      resources: store.servedPlurals(name).map((resource) => ({ resource, verbs: ['get', 'list', 'watch'] })),
    })),
  })),
});

function discovered(store: ObjectStore, group: string): Reply {
  const versions = store.servedVersions(group).map((version) => ({ groupVersion: `${group}/${version}`, version }));
  if (versions.length === 0) return { status: 404, body: '404 page not found\n' };
  return {
    status: 200,
    body: { kind: 'APIGroup', apiVersion: 'v1', name: group, versions, preferredVersion: versions[0] },
  };
}

async function logOf(
  logs: ReturnType<typeof indexLogs>,
  namespace: string,
  pod: string,
  query: URLSearchParams,
): Promise<Reply> {
  const container = query.get('container') ?? '';
  const previous = query.get('previous') === 'true';
  const text = await logs.read(namespace, pod, container, previous);
  if (text === null) {
    const what = previous
      ? `previous terminated container "${container}" in pod "${pod}" not found`
      : 'waiting to start';
    return status(400, 'BadRequest', what);
  }
  const lines = text.replace(/\n$/, '').split('\n');
  const tail = `${lines.slice(-Number(query.get('tailLines') ?? lines.length)).join('\n')}\n`;
  return { status: 200, body: tail.slice(0, Number(query.get('limitBytes') ?? tail.length)) };
}

function reviewed(review: any, denied: string[]): object {
  const asked = review.spec?.resourceAttributes;
  if (!asked) return { ...review, status: { allowed: !denied.includes(review.spec?.nonResourceAttributes?.path) } };
  const full = asked?.subresource ? `${asked.resource}/${asked.subresource}` : asked?.resource;
  const isDenied = denied.some((pattern) => pattern === full || pattern === `${full}.${asked?.group}`);
  return { ...review, status: { allowed: !isDenied } };
}
