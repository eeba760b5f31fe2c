import type { ContainerLog } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';
import { linesOf } from './log-search.ts';

/** One line of a container's log. */
export interface PodLogLine {
  log: ContainerLog;
  text: string;
  /** ISO 8601, where the line carries a time. */
  at?: string;
}

const time = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/;

export const podLogLines = onceFor((log: ContainerLog): PodLogLine[] =>
  linesOf(log)
    .map((line) => line.trim())
    .filter(Boolean)
    .map((text) => {
      const at = Date.parse((time.exec(text)?.[0] ?? '').replace(' ', 'T').replace(',', '.'));
      return { log, text, at: Number.isNaN(at) ? undefined : new Date(at).toISOString() };
    }),
);

/** Pods of which a log was read. */
export const loggedPods = onceFor((facts: ClusterFacts): KubeObject[] =>
  facts.all('Pod').filter((pod) => facts.logsOf(pod).length > 0),
);

/** Lines of these pods' logs that match, in each log's own order. */
export const grep = (facts: ClusterFacts, pods: KubeObject[], pattern: RegExp): PodLogLine[] =>
  pods.flatMap((pod) => facts.logsOf(pod).flatMap((log) => podLogLines(log).filter((line) => pattern.test(line.text))));

/** A container's last lines before its end: of the run before the present one where it is kept. */
export const lastWords = (facts: ClusterFacts, pod: KubeObject, container: string, count = 25): PodLogLine[] => {
  const logs = facts.logsOf(pod).filter((log) => log.container === container);
  const log = logs.find((entry) => entry.previous) ?? logs[0];
  return log ? podLogLines(log).slice(-count) : [];
};

/** What a failing network, resolver, disk or peer makes a program write: no proof against the program. */
export const speaksOfSurroundings =
  /time[d]?[ -]?out|deadline exceeded|connection (refused|reset|closed)|ECONN|EHOSTUNREACH|ETIMEDOUT|no route to host|no such host|(?<![a-z])ENOTFOUND|EAI_AGAIN|name resolution|UnknownHost|NXDOMAIN|SERVFAIL|x509|certificate|\bTLS|handshake|broken pipe|unreachable|unavailable|\bEOF\b|too many requests|\b429\b|throttl|dial tcp|socket hang up|read-only file ?system|input\/output error|no space left|SlowDown|exec format error|OperationalError|SQL(?:Transient|Recoverable)?\w*Exception|JedisConnection|RedisError|KafkaException|AmqpException|StatusRuntimeException|HttpServerErrorException|AmazonServiceException|botocore|S3Exception|terminating connection|server closed|IOException|SocketException|FetchError|AxiosError|RequestError|AccessDenied|not authorized|\bNVML\b|driver\/library version mismatch|CUDA driver version is insufficient|GPU is lost|fallen off the bus/i;
