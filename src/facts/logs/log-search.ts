import type { ContainerLog } from '../../domain/facts.ts';
import type { ClusterFacts } from '../cluster.ts';
import { onceFor } from '../lazy.ts';

export interface LogLine {
  log: ContainerLog;
  line: string;
}

/** A log's lines as they were written. */
export const linesOf = onceFor((log: ContainerLog): string[] => log.text.split('\n'));

/** Lines of all logs that match, in the logs' order and each log's own order. */
export const linesLike = (
  facts: ClusterFacts,
  pattern: RegExp,
  among: (log: ContainerLog) => boolean = () => true,
): LogLine[] =>
  facts.logs.filter(among).flatMap((log) =>
    linesOf(log)
      .filter((line) => pattern.test(line))
      .map((line) => ({ log, line })),
  );

/** The last matching line of each pod: what it says now, once per witness. */
export const lastPerPod = (lines: LogLine[]): LogLine[] => [
  ...new Map(lines.map((entry) => [`${entry.log.namespace}/${entry.log.pod}`, entry])).values(),
];

/** Time a log line carries: ISO 8601, or klog's `E1120 08:05:00.093500` in the year of `now`. */
export const timeOf = (line: string, now: string): string | undefined => {
  const iso = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?/.exec(line)?.[0];
  if (iso) return iso.endsWith('Z') ? iso : `${iso}Z`;
  const klog = /^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d)/.exec(line);
  return klog ? `${now.slice(0, 4)}-${klog[1]}-${klog[2]}T${klog[3]}Z` : undefined;
};
