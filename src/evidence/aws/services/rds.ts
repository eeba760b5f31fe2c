import { type Service, sdkClient } from '../operation.ts';

export const rds: Service = {
  iam: 'rds',
  budget: { perSecond: 1, burst: 3 },
  token: { from: 'Marker', to: 'Marker' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-rds'), 'RDSClient', settings),
  operations: {
    describeDBInstances: { requests: () => [{}], standalone: true, list: 'DBInstances', whole: true, maxPages: 5 },
  },
};
