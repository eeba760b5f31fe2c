import { type Service, sdkClient } from '../operation.ts';

export const sqs: Service = {
  iam: 'sqs',
  budget: { perSecond: 1, burst: 3 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-sqs'), 'SQSClient', settings),
  operations: {
    listQueues: {
      requests: ({ queues, clusterName }) =>
        (queues.length > 0 ? queues.slice(0, 1) : [clusterName]).map((QueueNamePrefix) => ({ QueueNamePrefix })),
      list: 'QueueUrls',
      maxPages: 1,
    },
    getQueueAttributes: {
      after: ['sqs.listQueues'],
      requests: ({ queues }, earlier) =>
        (earlier['sqs.listQueues']?.QueueUrls ?? [])
          .filter((url: string) => queues.includes(url.split('/').at(-1)!))
          .slice(0, 1)
          .map((QueueUrl: string) => ({ QueueUrl, AttributeNames: ['All'] })),
    },
  },
};
