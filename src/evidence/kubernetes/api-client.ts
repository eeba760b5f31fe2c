import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Gap } from '../../domain/facts.ts';
import type { ApiResponse, Connection } from './connection.ts';
import { gapForFailure, gapForStatus, gapForTimeout, type Request } from './gaps.ts';

/** A body that is no JSON (a log, a page of a proxy) has no `json`. */
export type Answer = { ok: true; json: any; text: string } | { ok: false; status?: number; json?: any; gap: Gap };

/** Whatever status the server answered. */
type RawAnswer = { ok: true; response: ApiResponse; latencyMs: number } | { ok: false; gap: Gap };

export interface ApiClientOptions {
  /** Per request, queueing, waiting and retries included. */
  callTimeoutMs: number;
  /** Requests in flight to one API server at once; the rest queue here rather than in its priority level. */
  concurrency: number;
}

/** GETs of one API server: bounded in time and number, identical ones in flight shared, 429 obeyed. */
export interface ApiClient {
  /** A status other than 2xx is a Gap. `onRequest` is called per request sent; joining one in flight sends none. */
  get(path: string, request: Request, onRequest: () => void, accept?: string): Promise<Answer>;
  /** For health endpoints, whose failing status is the answer. */
  getRaw(path: string, request: Request, onRequest: () => void, accept?: string): Promise<RawAnswer>;
}

export function apiClient(connection: Connection, { callTimeoutMs, concurrency }: ApiClientOptions): ApiClient {
  const limit = pLimit(concurrency);
  const inFlight = new Map<string, Promise<RawAnswer>>();

  /** Obeys Retry-After as long as the call's own time allows; a wait beyond it leaves the 429 as the answer. */
  const patiently = async (
    path: string,
    signal: AbortSignal,
    deadlineMs: number,
    onRequest: () => void,
    accept?: string,
  ): Promise<RawAnswer> => {
    for (;;) {
      signal.throwIfAborted();
      onRequest();
      const sentMs = performance.now();
      const response = await connection.get(path, signal, accept);
      const waitMs = (response.retryAfterSeconds ?? 1) * 1000;
      const nowMs = performance.now();
      if (response.status !== 429 || nowMs + waitMs >= deadlineMs) {
        return { ok: true, response, latencyMs: Math.round(nowMs - sentMs) };
      }
      await wait(waitMs, undefined, { signal });
    }
  };

  const call: ApiClient['getRaw'] = async (path, request, onRequest, accept) => {
    const signal = AbortSignal.timeout(callTimeoutMs);
    const deadlineMs = performance.now() + callTimeoutMs;
    try {
      return await limit(() => patiently(path, signal, deadlineMs, onRequest, accept));
    } catch (error) {
      if (signal.aborted) return { ok: false, gap: gapForTimeout(callTimeoutMs, request) };
      return { ok: false, gap: gapForFailure((error as Error).message, request) };
    }
  };

  const getRaw: ApiClient['getRaw'] = (path, request, onRequest, accept) => {
    const running = inFlight.get(path);
    if (running) return running;
    const answer = call(path, request, onRequest, accept).finally(() => inFlight.delete(path));
    inFlight.set(path, answer);
    return answer;
  };

  return {
    getRaw,
    async get(path, request, onRequest, accept) {
      const raw = await getRaw(path, request, onRequest, accept);
      if (!raw.ok) return raw;
      const { status, body } = raw.response;
      const json = parsed(body);
      if (status >= 200 && status < 300) return { ok: true, json, text: body };
      // Proxies in front of the API server answer in plain text or HTML.
      const message = typeof json?.message === 'string' ? json.message : body.trim().slice(0, 300);
      return { ok: false, status, json, gap: gapForStatus(status, message, request) };
    },
  };
}

function parsed(body: string): any {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
