import { type Service, sdkClient } from '../operation.ts';

export const events: Service = {
  iam: 'events',
  budget: { perSecond: 1, burst: 3 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-eventbridge'), 'EventBridgeClient', settings),
  operations: {
    // Rules match on their pattern, not on their name, so all of the default bus are read.
    listRules: { requests: () => [{}], standalone: true, list: 'Rules', whole: true, maxPages: 5 },
  },
};
