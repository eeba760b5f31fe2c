import http from 'node:http';
import https from 'node:https';
import { createGunzip } from 'node:zlib';
import { KubeConfig } from '@kubernetes/client-node';
import { type ClusterAccess, ClusterAccessError } from './access.ts';

export interface ApiResponse {
  status: number;
  body: string;
  /** Seconds that the server asks to wait, where it does. */
  retryAfterSeconds?: number;
}

/** An answer larger than this is not read on; 500 of the largest pods stay well below. */
const maxBodyBytes = 64 * 1024 * 1024;

/** An authenticated line to one API server. Reads, and the one review a reader may ask about itself. */
export interface Connection {
  server: string;
  /** `accept`: the media types asked for, JSON where none are named. */
  get(path: string, signal: AbortSignal, accept?: string): Promise<ApiResponse>;
  /** POST of a SelfSubjectAccessReview, which changes nothing in the cluster. */
  reviewAccess(review: object, signal: AbortSignal): Promise<ApiResponse>;
  close(): void;
}

function loadConfig(access: ClusterAccess): KubeConfig {
  const config = new KubeConfig();
  try {
    if (access.bearer) {
      const { server, caData } = access.bearer;
      config.loadFromClusterAndUser({ name: server, server, caData, skipTLSVerify: false }, { name: 'faultline' });
    } else if (access.inCluster) config.loadFromCluster();
    else if (access.kubeconfig) config.loadFromFile(access.kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    throw new ClusterAccessError(`the kubeconfig cannot be read: ${(error as Error).message}`);
  }
  if (access.context !== undefined) {
    if (!config.getContextObject(access.context)) {
      const known = config.getContexts().map((context) => context.name);
      throw new ClusterAccessError(
        `no context "${access.context}" in the kubeconfig; it has: ${known.join(', ') || 'none'}`,
      );
    }
    config.setCurrentContext(access.context);
  }
  return config;
}

/** Opens the line without a request. Throws ClusterAccessError; later failures reject the request that met them. */
export function connect(access: ClusterAccess): Connection {
  const config = loadConfig(access);
  const cluster = config.getCurrentCluster();
  if (!cluster) {
    throw new ClusterAccessError(`context "${config.getCurrentContext()}" names no cluster of the kubeconfig`);
  }
  const server = new URL(cluster.server);
  const basePath = server.pathname.replace(/\/$/, '');
  let agent: http.Agent | null = null;
  let authorising: Promise<https.RequestOptions> | null = null;

  // Concurrent calls share one run of the credential plugin; client-node itself would spawn one each.
  const authorised = (): Promise<https.RequestOptions> => {
    authorising ??= authorise().finally(() => {
      authorising = null;
    });
    return authorising;
  };

  const authorise = async (): Promise<https.RequestOptions> => {
    const options: https.RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    if (access.bearer)
      options.headers = { ...options.headers, authorization: `Bearer ${await access.bearer.token()}` } as never;
    // client-node makes an agent per call, and so a TLS session per request; a triage makes dozens.
    const made = options.agent as https.Agent;
    if (!agent || !sameCredentials(agent as https.Agent, made)) {
      agent?.destroy();
      agent = Object.assign(made, { keepAlive: true });
    }
    options.agent = agent;
    return options;
  };

  const send = async (
    method: string,
    path: string,
    signal: AbortSignal,
    { body, accept = 'application/json' }: { body?: string; accept?: string | undefined },
  ): Promise<ApiResponse> => {
    const options = await untilAborted(authorised(), signal);
    const request = {
      ...options,
      method,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || (server.protocol === 'http:' ? 80 : 443),
      path: basePath + path,
      signal,
      headers: {
        ...(options.headers as Record<string, string>),
        accept,
        'accept-encoding': 'gzip',
        'user-agent': 'faultline',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    };
    return exchange(server.protocol === 'http:' ? http : https, request, body);
  };

  return {
    server: cluster.server,
    get: (path, signal, accept) => send('GET', path, signal, { accept }),
    reviewAccess: (review, signal) =>
      send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', signal, {
        body: JSON.stringify(review),
      }),
    close() {
      agent?.destroy();
    },
  };
}

/** Sockets authenticated with a certificate that a credential plugin has renewed are not used again. */
const sameCredentials = (a: https.Agent, b: https.Agent): boolean =>
  (['cert', 'key', 'ca', 'servername', 'rejectUnauthorized'] as const).every(
    (field) => String(a.options[field]) === String(b.options[field]),
  );

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });

/** One request and its whole answer. A kept-alive socket that the server had just closed is tried once more. */
async function exchange(
  transport: typeof http | typeof https,
  options: https.RequestOptions,
  body: string | undefined,
): Promise<ApiResponse> {
  for (;;) {
    const request = transport.request(options);
    try {
      return await answerTo(request, body);
    } catch (error) {
      if (!request.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
  }
}

const answerTo = (request: http.ClientRequest, body: string | undefined): Promise<ApiResponse> =>
  new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const zipped = response.headers['content-encoding'] === 'gzip';
      const stream = zipped ? response.pipe(createGunzip()) : response;
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      stream.on('error', reject);
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) request.destroy(new Error(`the answer is larger than ${maxBodyBytes} bytes`));
        else chunks.push(chunk);
      });
      stream.on('end', () => {
        const retryAfterSeconds = Number(response.headers['retry-after']);
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
        });
      });
    });
    request.end(body);
  });
