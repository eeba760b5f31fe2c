import type { CloudWatchSeries } from '../../domain/facts.ts';
import type { CloudResources, CloudWatchQuery, Read } from '../../triage/ports.ts';
import { dimensionsOf } from './dimensions.ts';
import { pagesOf } from './pages.ts';

export interface MetricsContext {
  clusterName: string;
  touched(): Promise<CloudResources>;
  /** Answer of another operation; undefined where it has none. */
  ask(call: string): Promise<any>;
  send(parameters: Record<string, unknown>): Promise<Read<any>>;
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html: 500 metrics a request. */
const maxMetrics = 500;
const maxPages = 5;

type Stat = 'Maximum' | 'Minimum' | 'Sum' | 'Average';

/** How a metric is summed up; gauges that are not named are read by their maximum. */
const statOf = (metric: string): Stat => {
  if (/^(HealthyHostCount|FreeStorageSpace|FreeableMemory|RabbitMQDiskFree|BurstBalance|ConsumerCount)$/.test(metric))
    return 'Minimum';
  if (/^(TargetResponseTime|CpuUtilization|CPUUtilization)$/.test(metric)) return 'Average';
  const counts =
    /^(apiserver_request_total.*|ErrorPortAllocation|Packets.*|Bytes.*|Connection(Attempt|Established)Count|NewFlowCount|TCP_.*|HTTPCode_.*|PortAllocationErrorCount|TargetConnectionErrorCount|RejectedConnectionCount|NumberOfMessages.*)$/;
  return counts.test(metric) ? 'Sum' : 'Maximum';
};

/**
 * What is compared with its former course is read by the hour over all of the time asked for; so is a queue's traffic,
 * since a queue that is silent for some hours is not unused. All else by the minute around the incident.
 */
const historical = /^(BytesOutToDestination|BytesInFromDestination|NumberOfMessagesSent|NumberOfMessagesReceived)$/;
const resolutions = [
  { periodSeconds: 3600, isFor: (metric: string) => historical.test(metric), hours: Number.POSITIVE_INFINITY },
  // 3 hours by the minute: 500 metrics stay below the 100,800 values that one request may return.
  { periodSeconds: 60, isFor: (metric: string) => !historical.test(metric), hours: 3 },
];

interface Wanted {
  query: CloudWatchQuery;
  dimensions: Record<string, string>;
}

/** One batch per resolution. A series without a value in the time asked for is left out, as in a snapshot. */
export const readMetrics = async (
  queries: CloudWatchQuery[],
  context: MetricsContext,
): Promise<Read<CloudWatchSeries[]>> => {
  const byNamespace = await dimensionsOf([...new Set(queries.map(({ namespace }) => namespace))], context);
  const wanted = queries.flatMap((query) =>
    (byNamespace[query.namespace] ?? [])
      .filter(({ metrics }) => !metrics || metrics.test(query.metric))
      .map(({ dimensions }): Wanted => ({ query, dimensions })),
  );
  const reads = await Promise.all(
    resolutions.map(({ periodSeconds, hours, isFor }) =>
      readBatch(
        wanted.filter(({ query }) => isFor(query.metric)),
        { periodSeconds, hours },
        context,
      ),
    ),
  );
  const good = reads.filter((read) => read.ok);
  if (good.length === 0) return reads[0]!;
  return {
    ok: true,
    value: good.flatMap((read) => read.value),
    complete: good.length === reads.length && good.every((read) => read.complete),
  };
};

const readBatch = async (
  all: Wanted[],
  { periodSeconds, hours }: { periodSeconds: number; hours: number },
  context: MetricsContext,
): Promise<Read<CloudWatchSeries[]>> => {
  const wanted = all.slice(0, maxMetrics);
  if (wanted.length === 0) return { ok: true, value: [], complete: true };
  const end = Math.max(...wanted.map(({ query }) => query.end));
  const start = Math.max(Math.min(...wanted.map(({ query }) => query.start)), end - hours * 3600);
  const whole = (seconds: number): Date => new Date(Math.floor(seconds / periodSeconds) * periodSeconds * 1000);
  const read = await pagesOf(
    (page) => context.send(page),
    {
      StartTime: whole(start),
      EndTime: whole(end + periodSeconds),
      ScanBy: 'TimestampAscending',
      MetricDataQueries: wanted.map(({ query, dimensions }, index) => ({
        Id: `m${index}`,
        MetricStat: {
          Metric: {
            Namespace: query.namespace,
            MetricName: query.metric,
            Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
          },
          Period: periodSeconds,
          Stat: statOf(query.metric),
        },
      })),
    },
    { list: 'MetricDataResults', token: { from: 'NextToken', to: 'NextToken' }, maxPages },
  );
  if (!read.ok) return read;
  const value = wanted.flatMap(({ query, dimensions }, index): CloudWatchSeries[] => {
    const points = pointsOf(read.value.MetricDataResults.filter((result: any) => result.Id === `m${index}`));
    const { namespace, metric } = query;
    return points.length > 0 ? [{ namespace, metric, dimensions, stat: statOf(metric), periodSeconds, points }] : [];
  });
  return { ok: true, value, complete: read.complete && wanted.length === all.length };
};

/** Pages go on with the same id. */
const pointsOf = (results: any[]): [string, number][] =>
  results.flatMap((result) =>
    (result.Timestamps ?? []).map((time: string, at: number): [string, number] => [time, result.Values[at]]),
  );
