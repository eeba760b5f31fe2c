import type { Context, Earlier } from '../operation.ts';
import { type Service, sdkClient } from '../operation.ts';

/** Instances whose own history is looked up: the worst. */
const maxInstances = 2;

/** What to look up: one attribute per look-up is all that the API takes. */
const attributesOf = (context: Context, earlier: Earlier): [string, string][] => {
  const found: any[] = (earlier['ec2.describeInstances']?.Reservations ?? []).flatMap(
    (reservation: any) => reservation.Instances ?? [],
  );
  const running = (id: string): boolean =>
    found.some((instance) => instance.InstanceId === id && instance.State?.Name === 'running');
  const gone = context.instanceIds.filter((id) => !running(id));
  return [
    ['ReadOnly', 'false'],
    ...gone.slice(0, maxInstances).map((id): [string, string] => ['ResourceName', id]),
    // The record of a reclaimed spot instance names no resource.
    ...(gone.length > 0 ? ([['EventName', 'BidEvictedEvent']] as [string, string][]) : []),
    ...(context.nodeRoleRefused ? ([['EventName', 'DescribeAccessEntry']] as [string, string][]) : []),
    ...context.podRoles.slice(0, 1).map((arn): [string, string] => ['ResourceName', arn]),
  ];
};

/** LookupEvents is limited to 2 per second, account and region, for everyone in the account together. */
export const cloudtrail: Service = {
  iam: 'cloudtrail',
  budget: { perSecond: 1, burst: 1 },
  token: { from: 'NextToken', to: 'NextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-cloudtrail'), 'CloudTrailClient', settings),
  operations: {
    lookupEvents: {
      after: ['ec2.describeInstances'],
      requests: (context, earlier) =>
        attributesOf(context, earlier).map(([AttributeKey, AttributeValue]) => ({
          LookupAttributes: [{ AttributeKey, AttributeValue }],
          StartTime: toMinute(context.since),
          EndTime: toMinute(context.until),
          MaxResults: 50,
        })),
      list: 'Events',
      maxPages: 1,
      shape: ({ Events }) => ({ Events: [...new Map(Events.map((event: any) => [event.EventId, event])).values()] }),
    },
  },
};

/** Triages of the same minute ask the same. */
const toMinute = (iso: string): Date => new Date(Math.ceil(Date.parse(iso) / 60_000) * 60_000);
