import { readFile } from 'node:fs/promises';
import { Agent, fetch } from 'undici';

/** How an HTTP query API (Prometheus, Loki) is reached and who we are to it. */
export interface WebAccess {
  /** Base URL, with the path prefix if there is one. */
  url: string;
  bearerToken?: string;
  basicAuth?: { username: string; password: string };
  /** Sent as X-Scope-OrgID: the tenant of Mimir and Loki. */
  tenant?: string;
  /** PEM file of the authority that signed the server's certificate; unset: the system's. */
  caFile?: string;
  /** Headers that sign one request, where the API takes no fixed credentials. */
  sign?: (url: URL, signal: AbortSignal) => Promise<Record<string, string>>;
}

export type WebAnswer =
  | { ok: true; json: any }
  | {
      ok: false;
      reason: 'denied' | 'timeout' | 'too-large' | 'failed';
      /** What happened, with the server's own words. */
      problem: string;
      status?: number;
    };

export interface WebApi {
  /** One GET request. Never rejects. */
  get(path: string, parameters: Record<string, string | number>): Promise<WebAnswer>;
}

/** An answer larger than this is not read on. */
const maxBodyBytes = 32 * 1024 * 1024;

class TooLarge extends Error {}

/** A client of one API; `timeoutMs` bounds each request with its signature and its body. */
export function webApi(access: WebAccess, timeoutMs: number): WebApi {
  let dispatcher: Promise<Agent> | undefined;
  const agent = (caFile: string): Promise<Agent> => {
    dispatcher ??= readFile(caFile).then((ca) => new Agent({ connect: { ca } }));
    dispatcher.catch(() => {
      dispatcher = undefined;
    });
    return dispatcher;
  };

  return {
    async get(path, parameters) {
      const url = urlOf(access.url, path, parameters);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const headers = { ...headersOf(access), ...(await access.sign?.(url, signal)) };
        const options = access.caFile ? { dispatcher: await agent(access.caFile) } : {};
        // A signature holds for one address only.
        const redirect = access.sign ? 'error' : 'follow';
        const response = await fetch(url, { headers, signal, redirect, ...options });
        const text = await boundedText(response.body);
        if (!response.ok) return failureOf(response.status, text);
        return { ok: true, json: parsed(text) };
      } catch (error) {
        if (signal.aborted) return { ok: false, reason: 'timeout', problem: `no answer within ${timeoutMs} ms` };
        const { cause, message } = error as Error;
        const problem = cause instanceof Error ? cause.message || message : message;
        return { ok: false, reason: error instanceof TooLarge ? 'too-large' : 'failed', problem };
      }
    },
  };
}

function urlOf(base: string, path: string, parameters: Record<string, string | number>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url;
}

function headersOf({ bearerToken, basicAuth, tenant }: WebAccess): Record<string, string> {
  const pair = basicAuth && Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64');
  return {
    ...(bearerToken ? { authorization: `Bearer ${bearerToken}` } : pair ? { authorization: `Basic ${pair}` } : {}),
    ...(tenant && { 'x-scope-orgid': tenant }),
  };
}

async function boundedText(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new TooLarge(`the answer is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function failureOf(status: number, text: string): WebAnswer {
  const { error, message, errorType } = (parsed(text) ?? {}) as {
    error?: string;
    message?: string;
    errorType?: string;
  };
  const problem = `${status} ${String(error ?? message ?? text.trim()).slice(0, 300)}`.trim();
  // Prometheus answers 503 with this type where a query took longer than its own limit.
  const tookTooLong = status === 504 || (status === 503 && errorType === 'timeout');
  const reason = status === 401 || status === 403 ? 'denied' : tookTooLong ? 'timeout' : 'failed';
  return { ok: false, reason, problem, status };
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
