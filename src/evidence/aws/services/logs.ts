import { type Service, sdkClient } from '../operation.ts';

/**
 * What is asked is decided in `past-logs.ts`. The quota of FilterLogEvents is 5 calls a second for each account and
 * region: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
 */
export const logs: Service = {
  iam: 'logs',
  budget: { perSecond: 1, burst: 8 },
  token: { from: 'nextToken', to: 'nextToken' },
  load: async (settings) =>
    sdkClient(await import('@aws-sdk/client-cloudwatch-logs'), 'CloudWatchLogsClient', settings),
  operations: { filterLogEvents: { requests: () => [], list: 'events' } },
};
