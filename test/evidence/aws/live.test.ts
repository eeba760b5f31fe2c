import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/evidence/aws/budget.ts';
import { questionAbout } from './question.ts';
import { withAws } from './with-aws.ts';

const at = (iso: string): number => Date.parse(iso) / 1000;
const question = questionAbout();

/** Waits take no time, and are remembered. */
const hurriedClock = (): Clock & { slept: number[] } => {
  let now = Date.now();
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    sleep: async (ms) => {
      slept.push(Math.round(ms));
      now += ms;
    },
  };
};

const arn = 'arn:aws:health:us-west-2::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/AWS_EC2_OPERATIONAL_ISSUE_X';
const event = {
  arn,
  service: 'EC2',
  eventTypeCode: 'AWS_EC2_OPERATIONAL_ISSUE',
  eventTypeCategory: 'issue',
  region: 'us-west-2',
  availabilityZone: 'usw2-az1',
  startTime: at('2026-11-20T08:03:00Z'),
  statusCode: 'open',
  eventScopeCode: 'PUBLIC',
};

describe('AWS Health', () => {
  it('is asked about this region, and its answers have the shape of the API’s JSON', () =>
    withAws(
      {
        'health.describeEvents': ({ filter }) => ({
          body: { events: filter.eventStatusCodes.includes('open') ? [event] : [] },
        }),
        'health.describeEventDetails': ({ eventArns }) => ({
          body: {
            successfulSet: eventArns.map((of: string) => ({
              event: { ...event, arn: of },
              eventDescription: { latestDescription: 'We are investigating connectivity issues.' },
            })),
            failedSet: [],
          },
        }),
        'health.describeAffectedEntities': ({ filter }) => ({
          body: { entities: [{ eventArn: filter.eventArns[0], entityValue: 'i-0a', statusCode: 'IMPAIRED' }] },
        }),
      },
      async ({ api, open }) => {
        const cloud = open();
        const startTime = '2026-11-20T08:03:00Z';
        expect(await cloud.call('health.describeEvents', question)).toEqual({
          ok: true,
          complete: true,
          value: { call: 'health.describeEvents', answer: { events: [{ ...event, startTime }] } },
        });
        expect(await cloud.call('health.describeEventDetails', question)).toMatchObject({
          value: {
            answer: {
              successfulSet: [{ event: { arn, startTime }, eventDescription: { latestDescription: /investigating/ } }],
            },
          },
        });
        expect(await cloud.call('health.describeAffectedEntities', question)).toMatchObject({
          value: { answer: { entities: [{ eventArn: arn, entityValue: 'i-0a' }] } },
        });
        expect(api.requests[1]!.parameters.filter.regions).toEqual(['us-west-2', 'global']);
        expect(api.count('health.describeEvents')).toBe(2);
      },
    ));

  it('without a support plan is not configured, which no permission would change', () =>
    withAws({ 'health.describeEvents': { error: 'SubscriptionRequiredException' } }, async ({ open }) => {
      const cloud = open();
      const gap = { reason: 'not-configured', message: expect.stringContaining('Business') };
      expect(await cloud.call('health.describeEvents', question)).toMatchObject({ ok: false, gap });
      expect(await cloud.call('health.describeEventDetails', question)).toMatchObject({ ok: false, gap });
    }));
});

describe('a refusal', () => {
  it('names the IAM action to allow', () =>
    withAws({}, async ({ open }) => {
      const cloud = open();
      for (const [call, action] of [
        ['eks.describeCluster', 'eks:DescribeCluster'],
        ['cloudtrail.lookupEvents', 'cloudtrail:LookupEvents'],
        ['mq.listBrokers', 'mq:ListBrokers'],
      ] as const) {
        expect(await cloud.call(call, question)).toMatchObject({
          ok: false,
          gap: { reason: 'forbidden', fix: `allow \`${action}\` to the read role of this account` },
        });
      }
    }));

  it('is not asked for again by the other questions of the same operation', () =>
    withAws({}, async ({ api, open }) => {
      const touched = questionAbout({ instanceIds: ['i-0a', 'i-0b'], nodeRoleRefused: true });
      expect(await open().call('cloudtrail.lookupEvents', touched)).toMatchObject({ gap: { reason: 'forbidden' } });
      expect(api.count('cloudtrail.lookupEvents')).toBe(1);
    }));

  it('of a list is the gap of what is looked up in it', () =>
    withAws({}, async ({ open }) => {
      const read = await open().call('eks.describeUpdate', question);
      expect(read).toMatchObject({ ok: false, gap: { reason: 'forbidden', fix: /eks:ListUpdates/ } });
    }));
});

describe('a service in trouble', () => {
  it('that throttles is asked again, a little later each time', () => {
    const clock = hurriedClock();
    return withAws(
      {
        'eks.describeCluster': (_, times) =>
          times < 3
            ? { error: 'ThrottlingException', message: 'Rate exceeded', status: 429 }
            : { body: { cluster: { name: 'prod-usw2', status: 'ACTIVE', createdAt: at('2026-01-01T00:00:00Z') } } },
      },
      async ({ api, open }) => {
        const read = await open().call('eks.describeCluster', question);
        const cluster = { name: 'prod-usw2', status: 'ACTIVE', createdAt: '2026-01-01T00:00:00Z' };
        expect(read).toMatchObject({ ok: true, value: { answer: { cluster } } });
        expect(api.count('eks.describeCluster')).toBe(3);
        expect(clock.slept).toEqual([400, 800]);
      },
      { options: { clock } },
    );
  });

  it('that goes on throttling is a failure, not an empty answer', () =>
    withAws(
      { 'servicequotas.getServiceQuota': { error: 'TooManyRequestsException', status: 429 } },
      async ({ api, open }) => {
        const read = await open().call(
          'servicequotas.getServiceQuota',
          questionAbout({ launchErrors: ['VcpuLimitExceeded'] }),
        );
        expect(read).toMatchObject({ ok: false, gap: { reason: 'failed', message: /TooManyRequestsException/ } });
        expect(api.requests.filter(({ call }) => call.startsWith('servicequotas'))).toHaveLength(3);
      },
      { options: { clock: hurriedClock() } },
    ));

  it('that does not answer is a timeout', () =>
    withAws(
      { 'eks.describeCluster': 'silence' },
      async ({ open }) => {
        const read = await open().call('eks.describeCluster', question);
        expect(read).toMatchObject({ ok: false, gap: { reason: 'timeout', fix: /readTimeoutMs/ } });
      },
      { options: { timeoutMs: 300 } },
    ));
});

describe('what is asked', () => {
  it('CloudTrail: changes, the instances that are gone, once a second at most', () => {
    const clock = hurriedClock();
    const times: number[] = [];
    const trail = { EventId: 'e-1', EventName: 'TerminateInstances', EventTime: at('2026-11-20T08:20:00Z') };
    return withAws(
      {
        'ec2.describeInstances': { error: 'UnauthorizedOperation', status: 403 },
        'cloudtrail.lookupEvents': () => {
          times.push(clock.now());
          return { body: { Events: [{ ...trail, CloudTrailEvent: '{"eventName":"TerminateInstances"}' }] } };
        },
      },
      async ({ api, open }) => {
        const read = await open().call('cloudtrail.lookupEvents', questionAbout({ instanceIds: ['i-0a'] }));
        expect(read).toMatchObject({
          ok: true,
          value: { answer: { Events: [{ EventId: 'e-1', EventTime: '2026-11-20T08:20:00Z' }] } },
        });
        const asked = api.requests.filter(({ call }) => call === 'cloudtrail.lookupEvents');
        expect(asked.map(({ parameters }) => Object.values(parameters.LookupAttributes[0]))).toEqual([
          ['ReadOnly', 'false'],
          ['ResourceName', 'i-0a'],
          ['EventName', 'BidEvictedEvent'],
        ]);
        expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(1900);
      },
      { options: { clock } },
    );
  });

  it('a list whose silence would be evidence is read whole or not at all', () =>
    withAws(
      {
        'mq.listBrokers': { body: { BrokerSummaries: [] } },
        'eks.listAccessEntries': (parameters) => ({
          body: { accessEntries: [`arn:${parameters.nextToken ?? 0}`], nextToken: 'more' },
        }),
        'eks.listInsights': () => ({ body: { insights: [{ id: 'i' }], nextToken: 'more' } }),
      },
      async ({ open }) => {
        const cloud = open();
        const entries = await cloud.call('eks.listAccessEntries', question);
        expect(entries).toMatchObject({ ok: false, gap: { reason: 'failed', message: /too long/ } });
        const insights = await cloud.call('eks.listInsights', question);
        expect(insights).toMatchObject({ ok: true, complete: false, value: { answer: { insights: { length: 3 } } } });
      },
      { options: { clock: hurriedClock() } },
    ));

  it('of several updates the one that runs is told', () =>
    withAws(
      {
        'eks.listUpdates': { body: { updateIds: ['u-1', 'u-2', 'u-3'] } },
        'eks.describeUpdate': ({ updateId }) => ({
          body: {
            update: {
              id: updateId,
              status: updateId === 'u-2' ? 'InProgress' : 'Successful',
              createdAt: at(`2026-11-2${updateId.at(-1)}T00:00:00Z`),
            },
          },
        }),
      },
      async ({ open }) => {
        const read = await open().call('eks.describeUpdate', question);
        expect(read).toMatchObject({ value: { answer: { update: { id: 'u-2', createdAt: '2026-11-22T00:00:00Z' } } } });
      },
    ));

  it('the same question of several triages is one call', () =>
    withAws({ 'eks.describeCluster': { body: { cluster: { name: 'prod-usw2' } } } }, async ({ api, open }) => {
      await Promise.all([1, 2, 3].map(() => open().call('eks.describeCluster', question)));
      expect(api.count('eks.describeCluster')).toBe(1);
    }));

  it('nothing, where the incident has nothing to ask about', () =>
    withAws({}, async ({ api, open }) => {
      const cloud = open();
      for (const call of ['ec2.describeVolumes', 'ecr.describeImages', 'servicequotas.getServiceQuota']) {
        expect(await cloud.call(call, question)).toMatchObject({ ok: false, gap: { reason: 'not-found' } });
      }
      expect(await cloud.call('s3.listBuckets', question)).toMatchObject({ gap: { reason: 'not-configured' } });
      expect(api.requests).toEqual([]);
    }));

  it('without the cluster’s objects, while its API server is away', () =>
    withAws({ 'eks.describeCluster': { body: { cluster: { status: 'FAILED' } } } }, async ({ open }) => {
      const away = { ...question, touched: () => new Promise<never>(() => {}) };
      expect(await open().call('eks.describeCluster', away)).toMatchObject({ ok: true });
    }));
});

describe('a cluster in another account', () => {
  const role = 'arn:aws:iam::222222222222:role/faultline-read';
  const access = { role, externalId: 'faultline-prod' };
  const answers = {
    'eks.describeCluster': { body: { cluster: { name: 'prod-usw2' } } },
    'eks.listInsights': { body: { insights: [] } },
    'mq.listBrokers': { error: 'NotFoundException', status: 404 },
  };

  it('is read by its role, which is assumed once with the external id', () =>
    withAws(
      answers,
      async ({ api, open, account }) => {
        const cloud = open();
        await Promise.all(
          ['eks.describeCluster', 'eks.listInsights', 'mq.listBrokers'].map((call) => cloud.call(call, question)),
        );
        expect(api.count('sts.assumeRole')).toBe(1);
        expect(api.requests[0]).toMatchObject({
          accessKeyId: 'AKIAHUB',
          parameters: { RoleArn: role, ExternalId: 'faultline-prod', RoleSessionName: 'faultline' },
        });
        for (const request of api.requests.slice(1))
          expect(request).toMatchObject({ accessKeyId: 'ASIASPOKE1', sessionToken: 'session-1' });
        expect(await account.id()).toBe('222222222222');
        expect(api.count('sts.getCallerIdentity')).toBe(0);
      },
      { access },
    ));

  it('whose role refuses us is one gap that says whose trust policy to change, and STS is not asked again', () =>
    withAws(
      { ...answers, 'sts.assumeRole': { error: 'AccessDenied', message: 'not authorized', status: 403 } },
      async ({ api, open }) => {
        const cloud = open();
        for (const call of ['eks.describeCluster', 'health.describeEvents']) {
          expect(await cloud.call(call, question)).toMatchObject({
            ok: false,
            gap: { reason: 'forbidden', message: /cannot assume .*faultline-read/, fix: /trust policy.*externalId/ },
          });
        }
        expect(api.requests.map(({ call }) => call)).toEqual(['sts.assumeRole']);
      },
      { access },
    ));
});

describe('credentials', () => {
  it('that do not exist are the operator’s to give, and no service is asked', () =>
    withAws(
      {},
      async ({ api, open }) => {
        expect(await open().call('eks.describeCluster', question)).toMatchObject({
          ok: false,
          gap: { reason: 'not-configured', message: /no AWS credentials/, fix: /docs\/aws\.md/ },
        });
        expect(api.requests).toEqual([]);
      },
      { environment: { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined } },
    ));

  it('that are wrong are a failure', () =>
    withAws(
      { 'eks.describeCluster': { body: {} } },
      async ({ open }) => {
        const read = await open().call('eks.describeCluster', question);
        expect(read).toMatchObject({ ok: false, gap: { reason: 'failed', message: /SignatureDoesNotMatch/ } });
      },
      { environment: { AWS_SECRET_ACCESS_KEY: 'another' } },
    ));

  it('name the account where configuration does not', () =>
    withAws({}, async ({ account }) => {
      expect(await account.id()).toBe('123456789012');
    }));
});
