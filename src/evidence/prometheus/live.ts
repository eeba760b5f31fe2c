import pLimit from 'p-limit';
import type { Gap, Series } from '../../domain/facts.ts';
import type { MetricQuery, MetricsReader, Read } from '../../triage/ports.ts';
import { type WebAccess, type WebAnswer, webApi } from '../web-api.ts';
import { halves, inBatches } from './batches.ts';
import { invalidQuery, selectorOf, sorted } from './query.ts';

/** Prometheus, Thanos, Mimir, VictoriaMetrics, Amazon Managed Service for Prometheus. */
export interface PrometheusOptions extends WebAccess {
  /** Per query. Prometheus' own limit is 2 minutes; evidence that takes longer comes too late. */
  timeoutMs?: number;
  /** Queries in flight at once; Prometheus runs 20 by default and others need them too. */
  concurrency?: number;
}

/**
 * What a server says of a query that holds more than it loads at once. Prometheus: "query processing would load too
 * many samples into memory"; Mimir, Thanos, Cortex: "the query hit the max number of series/chunks limit", "exceeded
 * series limit"; VictoriaMetrics: "cannot select more than -search.maxSamplesPerQuery".
 */
const overLimit = /too many (samples|series|chunks|points)|limit|cannot select more than|max(imum)? number of/i;
/** A question that took too long is asked in halves so often, as long as the layer's own time allows it. */
const maxDivisionsForTime = 2;
/** Divisions of one question altogether: enough to find two heavy metrics among seventy, and an end for a server all of whose answers are too large. */
const maxDivisions = 16;

type Range = Omit<MetricQuery, 'name'>;
type Reads = Map<string, Read<Series[]>>;

/**
 * Reads series by `query_range` and names by label values; what is asked in one turn goes out as few queries. What
 * cannot be read is a Gap; it never throws.
 */
export function prometheusReader(options: PrometheusOptions): MetricsReader {
  const { timeoutMs = 10_000, concurrency = 4 } = options;
  const api = webApi(options, timeoutMs);
  const limit = pLimit(concurrency);
  /** False once the server has refused to select several names by a regular expression. */
  let takesLists = true;

  const query = ({ matchers, start, end, stepSeconds }: Range, names: string[]): Promise<WebAnswer> => {
    const selector =
      names.length === 1
        ? selectorOf({ name: names[0]!, matchers })
        : selectorOf({ name: '', matchers }, `__name__=~"${names.join('|')}"`);
    const parameters = { query: selector, start, end, step: stepSeconds };
    return limit(() => api.get('/api/v1/query_range', parameters));
  };

  const each = async (lists: string[][], ask: (names: string[]) => Promise<Reads>): Promise<Reads> =>
    new Map((await Promise.all(lists.map(ask))).flatMap((reads) => [...reads]));
  const alone = (names: string[]): string[][] => names.map((name) => [name]);

  const ask = async (names: string[], range: Range, depth = 0, left = { divisions: maxDivisions }): Promise<Reads> => {
    if (names.length > 1 && !takesLists) return each(alone(names), (one) => ask(one, range));
    const answer = await query(range, names);
    if (answer.ok || names.length === 1) return readsOf(answer, names, range);
    const further = (list: string[]): Promise<Reads> => ask(list, range, depth + 1, left);
    const isTooMuch = isOverLimit(answer) || (answer.reason === 'timeout' && depth < maxDivisionsForTime);
    if (isTooMuch && left.divisions > 0) {
      left.divisions -= 1;
      return each(halves(names), further);
    }
    if (!isOverLimit(answer) && (answer.status === 400 || answer.status === 422)) {
      takesLists = false;
      return each(alone(names), further);
    }
    return readsOf(answer, names, range);
  };

  const batched = inBatches<Series[]>((names, range) => ask(names, range));
  return {
    async series(wanted) {
      const gap = invalidQuery(wanted);
      return gap ? { ok: false, gap } : batched(wanted);
    },
    async names({ matchers = {}, start, end }) {
      const selector = selectorOf({ name: '', matchers });
      const match = selector && { 'match[]': selector };
      const what = `names of ${selector || 'all series'}`;
      const answer = await limit(() => api.get('/api/v1/label/__name__/values', { ...match, start, end }));
      return readOf(answer, what, ({ data }) => namesOf(data));
    },
  };
}

const isOverLimit = (answer: WebAnswer): boolean =>
  !answer.ok &&
  (answer.reason === 'too-large' ||
    ([400, 413, 422, 500].includes(answer.status ?? 0) && overLimit.test(answer.problem)));

interface ApiAnswer {
  status?: string;
  warnings?: string[];
  data?: unknown;
}

interface Stream {
  metric: Record<string, string>;
  values?: [number, string][];
}

/** What a query over several names says of each of them. */
function readsOf(answer: WebAnswer, names: string[], range: Range): Reads {
  // Of several names the message names none: the same trouble is then told once.
  const what = names.length === 1 ? selectorOf({ name: names[0]!, matchers: range.matchers }) : 'Prometheus';
  const read = readOf(answer, what, (value) => seriesOf(value, names[0]!));
  if (!read.ok) return new Map(names.map((name) => [name, read]));
  const byName = Map.groupBy(read.value, ({ name }) => name);
  return new Map(
    names.map((name) => [name, { ...read, value: names.length === 1 ? read.value : (byName.get(name) ?? []) }]),
  );
}

function readOf<T>(answer: WebAnswer, what: string, read: (value: ApiAnswer) => T | undefined): Read<T> {
  if (!answer.ok) return { ok: false, gap: gapOf(answer.reason, answer.problem, what) };
  const value = answer.json?.status === 'success' ? read(answer.json) : undefined;
  if (value === undefined)
    return { ok: false, gap: gapOf('failed', 'the answer is not that of a Prometheus query API', what) };
  // Thanos and Mimir warn when a store behind them did not answer: the series are then a part.
  return { ok: true, value, complete: (answer.json.warnings ?? []).length === 0 };
}

/** Undefined where the answer is no matrix. */
function seriesOf({ data }: ApiAnswer, asked: string): Series[] | undefined {
  const { resultType, result } = (data ?? {}) as { resultType?: unknown; result?: unknown };
  if (resultType !== 'matrix' || !Array.isArray(result) || !result.every(isStream)) return undefined;
  const series = result.map(({ metric: { __name__: name = asked, ...labels }, values = [] }) => ({
    name,
    labels,
    points: values.map(([time, value]): [number, number] => [time, numberOf(value)]),
  }));
  return sorted(series);
}

const isStream = (entry: unknown): entry is Stream => {
  const { metric, values = [] } = (entry ?? {}) as Record<string, unknown>;
  return (
    typeof metric === 'object' &&
    metric !== null &&
    Object.values(metric).every((label) => typeof label === 'string') &&
    Array.isArray(values) &&
    values.every((point) => Array.isArray(point) && Number.isFinite(point[0]) && typeof point[1] === 'string')
  );
};

const namesOf = (data: unknown): string[] | undefined =>
  Array.isArray(data) ? data.filter((name) => typeof name === 'string').sort() : undefined;

const numberOf = (value: string): number =>
  value === '+Inf' ? Number.POSITIVE_INFINITY : value === '-Inf' ? Number.NEGATIVE_INFINITY : Number(value);

type Failure = Exclude<WebAnswer, { ok: true }>['reason'];

const reasons: Record<Failure, Gap['reason']> = {
  denied: 'forbidden',
  timeout: 'timeout',
  'too-large': 'failed',
  failed: 'failed',
};

const fixes: Record<Failure, string> = {
  denied: 'set prometheusAuth beside prometheusUrl: this Prometheus does not accept the present credentials',
  timeout: 'look at the load of this Prometheus, then re-run',
  'too-large': 'look it up by hand, with narrower labels',
  failed: 'check that PROMETHEUS_URL is the base URL of a Prometheus query API',
};

const gapOf = (failure: Failure, problem: string, what: string): Gap => ({
  reason: reasons[failure],
  message: `cannot query ${what}: ${problem}`,
  fix: fixes[failure],
});
