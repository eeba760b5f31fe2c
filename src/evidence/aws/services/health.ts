import { type Earlier, type Service, sdkClient } from '../operation.ts';

/** What a cluster stands on; events of other services are left to their users. */
const services = [
  'EC2',
  'EKS',
  'EBS',
  'ELASTICFILESYSTEM',
  'ELASTICLOADBALANCING',
  'VPC',
  'NATGATEWAY',
  'AUTOSCALING',
  'FARGATE',
  'ECR',
  'S3',
  'IAM',
  'STS',
  'KMS',
  'ROUTE53',
  'INTERNETCONNECTIVITY',
  'RDS',
  'MQ',
  'SQS',
];
/** Both detail operations take up to 10 events. */
const maxEvents = 10;

const arnsOf = (earlier: Earlier): string[] =>
  (earlier['health.describeEvents']?.events ?? [])
    .toSorted((a: any, b: any) => Number(b.statusCode === 'open') - Number(a.statusCode === 'open'))
    .map((event: any) => event.arn)
    .slice(0, maxEvents);

/** AWS Health needs a Business, Enterprise On-Ramp or Enterprise support plan, and has one endpoint per partition. */
export const health: Service = {
  iam: 'health',
  budget: { perSecond: 1, burst: 4 },
  token: { from: 'nextToken', to: 'nextToken' },
  homeRegion: (region) =>
    region.startsWith('cn-') ? 'cn-northwest-1' : region.startsWith('us-gov-') ? 'us-gov-west-1' : 'us-east-1',
  load: async (settings) => sdkClient(await import('@aws-sdk/client-health'), 'HealthClient', settings),
  operations: {
    describeEvents: {
      standalone: true,
      requests: ({ region, since }) => {
        const filter = {
          regions: [region, 'global'],
          services,
          eventTypeCategories: ['issue', 'investigation', 'scheduledChange'],
        };
        return [
          { filter: { ...filter, eventStatusCodes: ['open', 'upcoming'] }, maxResults: 100 },
          {
            filter: { ...filter, eventStatusCodes: ['closed'], endTimes: [{ from: new Date(since) }] },
            maxResults: 100,
          },
        ];
      },
      list: 'events',
    },
    describeEventDetails: {
      after: ['health.describeEvents'],
      standalone: true,
      requests: (_, earlier) => (arnsOf(earlier).length > 0 ? [{ eventArns: arnsOf(earlier) }] : []),
    },
    describeAffectedEntities: {
      after: ['health.describeEvents'],
      standalone: true,
      requests: (_, earlier) =>
        arnsOf(earlier).length > 0 ? [{ filter: { eventArns: arnsOf(earlier) }, maxResults: 100 }] : [],
      list: 'entities',
    },
  },
};
