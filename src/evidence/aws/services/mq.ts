import { type Service, sdkClient } from '../operation.ts';

const maxBrokers = 3;

export const mq: Service = {
  iam: 'mq',
  budget: { perSecond: 1, burst: 4 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-mq'), 'MqClient', settings),
  operations: {
    // The host that an application misses stands in its logs, so all brokers are listed and looked up there.
    listBrokers: { requests: () => [{}], standalone: true, list: 'BrokerSummaries', whole: true, maxPages: 5 },
    describeBroker: {
      after: ['mq.listBrokers'],
      standalone: true,
      requests: (_, earlier) =>
        (earlier['mq.listBrokers']?.BrokerSummaries ?? [])
          .filter((broker: any) => broker.BrokerState !== 'RUNNING')
          .slice(0, maxBrokers)
          .map(({ BrokerId }: any) => ({ BrokerId })),
    },
  },
};
