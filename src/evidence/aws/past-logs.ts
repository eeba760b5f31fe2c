import type { Gap, LogStore } from '../../domain/facts.ts';
import { shellWord } from '../../domain/shell.ts';
import type { PastLog, PastLogsReader, Read } from '../../triage/ports.ts';
import { askedLines, type StoredLine, storedLogs } from '../past-logs.ts';
import type { AwsAccount } from './account.ts';
import { pagesOf } from './pages.ts';

const call = 'logs.filterLogEvents';
/** Pages of one question; a page may be empty where much was searched for little. */
const maxPages = 4;

/** Where Container Insights' Fluent Bit writes what containers write. */
export const containerInsightsGroup = (clusterName: string): string =>
  `/aws/containerinsights/${clusterName}/application`;

/**
 * Past logs from CloudWatch Logs by FilterLogEvents, which costs no money per byte searched as Insights does, and is
 * bounded by time and pages. Events are those of Container Insights: JSON with `kubernetes.pod_name`.
 */
export function cloudWatchLogsReader(account: AwsAccount, group: string): PastLogsReader {
  const parametersOf = ({ namespace, pod, container, since, until }: PastLog) => ({
    logGroupName: group,
    startTime: Date.parse(since),
    endTime: Date.parse(until),
    filterPattern: patternOf({
      namespace_name: namespace,
      pod_name: pod,
      ...(container && { container_name: container }),
    }),
  });
  return storedLogs({
    async ask(wanted) {
      const parameters = { ...parametersOf(wanted), limit: askedLines };
      const token = { from: 'nextToken', to: 'nextToken' };
      const send = (page: Record<string, unknown>): Promise<Read<any>> => account.send(call, page);
      const read = await pagesOf(send, parameters, { list: 'events', token, maxPages });
      if (!read.ok) return { ok: false, gap: read.gap.reason === 'not-found' ? gapForGroup(group) : read.gap };
      return { ...read, value: (read.value.events ?? []).map(lineOf) };
    },
    cite: (wanted): LogStore => {
      const { startTime, endTime, filterPattern } = parametersOf(wanted);
      const range = `--start-time ${startTime} --end-time ${endTime}`;
      return {
        name: 'CloudWatch Logs',
        reproduce: `aws logs filter-log-events --region ${account.region} --log-group-name ${shellWord(group)} ${range} --filter-pattern ${shellWord(filterPattern)}`,
      };
    },
  });
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html: all of these fields. */
const patternOf = (fields: Record<string, string>): string =>
  `{ ${Object.entries(fields)
    .map(([name, value]) => `($.kubernetes.${name} = ${JSON.stringify(value)})`)
    .join(' && ')} }`;

const lineOf = ({ timestamp, message }: { timestamp?: number; message?: string }): StoredLine => {
  let container: string | undefined;
  try {
    container = JSON.parse(message ?? '').kubernetes?.container_name;
  } catch {
    // An event that is no JSON tells no container.
  }
  return { at: timestamp ?? 0, text: message ?? '', ...(container && { container }) };
};

const gapForGroup = (group: string): Gap => ({
  reason: 'not-configured',
  message: `CloudWatch Logs has no log group ${group}`,
  fix: 'set cloudWatchLogGroup of this cluster to the group that its containers log to',
});
