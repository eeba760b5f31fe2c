import { describe, expect, it } from 'vitest';
import { checkAws } from '../../../src/evidence/doctor/aws.ts';
import { withAws } from '../aws/with-aws.ts';

const identity = { name: 'prod', provider: 'eks' as const, region: 'us-west-2' };
const now = '2026-11-20T08:30:00Z';
const cluster = { 'eks.describeCluster': { body: { cluster: { name: 'prod-usw2' } } } };

describe('the check of an AWS account', () => {
  it('names each action that is missing once, with the line that adds it', () =>
    withAws(
      {
        ...cluster,
        'eks.listUpdates': { body: { updateIds: [] } },
        'health.describeEvents': { error: 'SubscriptionRequiredException' },
      },
      async ({ open }) => {
        const { checks } = await checkAws(open(), identity, now);
        const of = (name: string) => checks.filter((check) => check.name === name);
        expect(checks[0]).toMatchObject({ name: 'connection', status: 'ok' });
        expect(of('eks:ListUpdates')).toMatchObject([{ status: 'ok' }]);
        expect(of('eks:DescribeUpdate')).toMatchObject([{ status: 'skipped' }]);
        expect(of('mq:ListBrokers')).toMatchObject([
          { status: 'failed', fix: 'allow `mq:ListBrokers` to the read role of this account' },
        ]);
        expect(of('mq:DescribeBroker')).toMatchObject([{ status: 'skipped' }]);
        expect(of('cloudtrail:LookupEvents')).toMatchObject([{ status: 'failed' }]);
        expect(of('health:DescribeEvents')).toMatchObject([{ status: 'skipped', detail: /support plan/ }]);
      },
    ));

  it('writes nothing', () =>
    withAws(cluster, async ({ api, open }) => {
      await checkAws(open(), identity, now);
      const names = api.requests.map(({ call }) => call.split('.')[1]!);
      expect(names.length).toBeGreaterThan(10);
      expect(names.filter((name) => !/^(describe|list|get|lookup)/.test(name))).toEqual([]);
    }));

  it('stops at a cluster that EKS does not know', () =>
    withAws({ 'eks.describeCluster': { error: 'ResourceNotFoundException', status: 404 } }, async ({ open }) => {
      const { checks } = await checkAws(open(), identity, now);
      expect(checks).toMatchObject([{ name: 'connection', status: 'failed', fix: /eksName/ }]);
    }));
});
