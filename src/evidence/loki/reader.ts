import type { Gap, LogStore } from '../../domain/facts.ts';
import { shellWord } from '../../domain/shell.ts';
import type { PastLog, PastLogsReader, Read } from '../../triage/ports.ts';
import { askedLines, type StoredLine, storedLogs } from '../past-logs.ts';
import { type WebAccess, type WebAnswer, webApi } from '../web-api.ts';

export interface LokiOptions extends WebAccess {
  /** Names of the stream labels; those of Promtail and Alloy where unset. */
  labels?: Partial<LokiLabels>;
  /** Further matchers of every query, e.g. `cluster="prod"`, where one Loki holds the logs of several clusters. */
  matchers?: string[];
  timeoutMs?: number;
}

export interface LokiLabels {
  namespace: string;
  pod: string;
  container: string;
}

const usualLabels: LokiLabels = { namespace: 'namespace', pod: 'pod', container: 'container' };

export const labelsOf = ({ labels }: Pick<LokiOptions, 'labels'>): LokiLabels => ({ ...usualLabels, ...labels });

/** Past logs by LogQL: https://grafana.com/docs/loki/latest/reference/loki-http-api/#query-logs-within-a-range-of-time */
export function lokiReader(options: LokiOptions): PastLogsReader {
  const api = webApi(options, options.timeoutMs ?? 10_000);
  const labels = labelsOf(options);
  const selector = ({ namespace, pod, container }: PastLog): string => {
    const own = {
      [labels.namespace]: namespace,
      [labels.pod]: pod,
      ...(container && { [labels.container]: container }),
    };
    // LogQL's strings are escaped as JSON's are.
    const matchers = Object.entries(own).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
    return `{${[...(options.matchers ?? []), ...matchers].join(',')}}`;
  };
  return storedLogs({
    async ask(wanted) {
      const answer = await api.get('/loki/api/v1/query_range', {
        query: selector(wanted),
        start: nanoseconds(wanted.since),
        end: nanoseconds(wanted.until),
        limit: askedLines,
        direction: 'backward',
      });
      return linesOf(answer, labels.container, `${wanted.namespace}/${wanted.pod}`);
    },
    cite: (wanted): LogStore => ({
      name: 'Loki',
      reproduce: `logcli query ${shellWord(selector(wanted))} --from=${wanted.since} --to=${wanted.until} --limit=${askedLines}`,
    }),
  });
}

/** As text: nanoseconds since 1970 are no exact number. */
const nanoseconds = (iso: string): string => `${Date.parse(iso)}000000`;

interface Stream {
  stream: Record<string, string>;
  /** [nanoseconds, line] */
  values: [string, string][];
}

const isStream = (entry: unknown): entry is Stream => {
  const { stream, values } = (entry ?? {}) as Partial<Record<keyof Stream, unknown>>;
  return (
    typeof stream === 'object' &&
    stream !== null &&
    Array.isArray(values) &&
    values.every((value) => Array.isArray(value) && Number.isFinite(Number(value[0])))
  );
};

function linesOf(answer: WebAnswer, containerLabel: string, what: string): Read<StoredLine[]> {
  if (!answer.ok) return { ok: false, gap: lokiGap(answer, `the past log of ${what}`) };
  const { resultType, result } = answer.json?.data ?? {};
  if (resultType !== 'streams' || !Array.isArray(result) || !result.every(isStream))
    return {
      ok: false,
      gap: lokiGap({ reason: 'failed', problem: 'the answer is not that of a Loki query API' }, what),
    };
  const lines = result.flatMap(({ stream, values }) =>
    values.map(([time, text]) => ({ at: Number(time) / 1e6, container: stream[containerLabel], text: String(text) })),
  );
  return { ok: true, value: lines, complete: lines.length < askedLines };
}

const fixes: Record<Exclude<WebAnswer, { ok: true }>['reason'], [Gap['reason'], string]> = {
  denied: ['forbidden', 'set the credentials and the tenant of this Loki, in loki of the cluster'],
  timeout: ['timeout', 'look at the load of this Loki, then re-run'],
  'too-large': ['failed', 'look it up by hand: logcli query'],
  failed: ['failed', 'check that loki.url of the cluster is the base URL of a Loki, with its tenant'],
};

export const lokiGap = ({ reason, problem }: { reason: keyof typeof fixes; problem: string }, what: string): Gap => ({
  reason: fixes[reason][0],
  message: `cannot read ${what} from Loki: ${problem}`,
  fix: fixes[reason][1],
});
