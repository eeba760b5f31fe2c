import pLimit from 'p-limit';
import type { Gap, Series } from '../../domain/facts.ts';
import type { MetricQuery, MetricsReader, Read } from '../../triage/ports.ts';
import { invalidQuery, selectorOf, sorted } from './query.ts';

export interface PrometheusOptions {
  /** Base URL, with the path prefix if there is one: Prometheus, Thanos, Mimir, VictoriaMetrics. */
  url: string;
  bearerToken?: string;
  basicAuth?: { username: string; password: string };
  /** Per query. Prometheus' own limit is 2 minutes; evidence that takes longer comes too late. */
  timeoutMs?: number;
  /** Queries in flight at once; Prometheus runs 20 by default and others need them too. */
  concurrency?: number;
}

/** An answer larger than this is not read on. */
const maxBodyBytes = 32 * 1024 * 1024;

/** Reads series by `query_range` and names by label values. What cannot be read is a Gap; it never throws. */
export function prometheusReader(options: PrometheusOptions): MetricsReader {
  const { timeoutMs = 10_000, concurrency = 4 } = options;
  const limit = pLimit(concurrency);

  /** One API call; `what` is the selector for messages. */
  const ask = async <T>(url: URL, what: string, read: (answer: ApiAnswer) => T | undefined): Promise<Read<T>> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { headers: headersOf(options), signal });
      const text = await boundedText(response);
      if (!response.ok) return { ok: false, gap: gapForStatus(response.status, text, what) };
      const answer = parsed(text) as ApiAnswer | undefined;
      const value = answer?.status === 'success' ? read(answer) : undefined;
      if (value === undefined) {
        return { ok: false, gap: gapOf('failed', 'the answer is not that of a Prometheus query API', what) };
      }
      // Thanos and Mimir warn when a store behind them did not answer: the series are then a part.
      return { ok: true, value, complete: (answer?.warnings ?? []).length === 0 };
    } catch (error) {
      if (signal.aborted) return { ok: false, gap: gapOf('timeout', `no answer within ${timeoutMs} ms`, what) };
      const { cause, message } = error as Error;
      return { ok: false, gap: gapOf('failed', cause instanceof Error ? cause.message : message, what) };
    }
  };

  return {
    async series(query) {
      const gap = invalidQuery(query);
      if (gap) return { ok: false, gap };
      const { start, end, stepSeconds: step } = query;
      const selector = selectorOf(query);
      const url = apiUrl(options.url, 'query_range', { query: selector, start, end, step });
      return limit(() => ask(url, selector, (answer) => seriesOf(answer, query)));
    },
    async names({ matchers = {}, start, end }) {
      const selector = selectorOf({ name: '', matchers });
      const match = selector && { 'match[]': selector };
      const url = apiUrl(options.url, 'label/__name__/values', { ...match, start, end });
      return limit(() => ask(url, `names of ${selector || 'all series'}`, ({ data }) => namesOf(data)));
    },
  };
}

function apiUrl(base: string, path: string, parameters: Record<string, string | number>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v1/${path}`;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url;
}

function headersOf({ bearerToken, basicAuth }: PrometheusOptions): Record<string, string> {
  if (bearerToken) return { authorization: `Bearer ${bearerToken}` };
  if (!basicAuth) return {};
  const pair = Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error(`the answer is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

interface ApiAnswer {
  status?: string;
  warnings?: string[];
  data?: unknown;
}

interface Matrix {
  resultType?: string;
  result?: { metric: Record<string, string>; values?: [number, string][] }[];
}

/** Undefined where the answer is no matrix. */
function seriesOf({ data }: ApiAnswer, query: MetricQuery): Series[] | undefined {
  const { resultType, result } = (data ?? {}) as Matrix;
  if (resultType !== 'matrix' || !Array.isArray(result)) return undefined;
  const series = result.map(({ metric: { __name__: name = query.name, ...labels }, values = [] }) => ({
    name,
    labels,
    points: values.map(([time, value]): [number, number] => [time, numberOf(value)]),
  }));
  return sorted(series);
}

const namesOf = (data: unknown): string[] | undefined =>
  Array.isArray(data) ? data.filter((name) => typeof name === 'string').sort() : undefined;

const numberOf = (value: string): number =>
  value === '+Inf' ? Number.POSITIVE_INFINITY : value === '-Inf' ? Number.NEGATIVE_INFINITY : Number(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function gapForStatus(status: number, text: string, what: string): Gap {
  const error = (parsed(text) as { error?: string } | undefined)?.error ?? text.trim().slice(0, 300);
  const denied = status === 401 || status === 403;
  return gapOf(denied ? 'forbidden' : status === 504 ? 'timeout' : 'failed', `${status} ${error}`.trim(), what);
}

const fixes = {
  forbidden: 'set the credentials of PROMETHEUS_URL: this Prometheus does not accept the present ones',
  timeout: 'look at the load of this Prometheus, then re-run',
  failed: 'check that PROMETHEUS_URL is the base URL of a Prometheus query API',
};

const gapOf = (reason: keyof typeof fixes, problem: string, what: string): Gap => ({
  reason,
  message: `cannot query ${what}: ${problem}`,
  fix: fixes[reason],
});
