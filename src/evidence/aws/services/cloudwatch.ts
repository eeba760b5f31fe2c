import { type Service, sdkClient } from '../operation.ts';

/** Asked in batches of up to 500 metrics; what is asked is decided in `metrics.ts`. */
export const cloudwatch: Service = {
  iam: 'cloudwatch',
  budget: { perSecond: 2, burst: 6 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-cloudwatch'), 'CloudWatchClient', settings),
  operations: { getMetricData: { requests: () => [], list: 'MetricDataResults' } },
};
