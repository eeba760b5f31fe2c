import { describe, expect, it } from 'vitest';
import { cloudWatchLogsReader, containerInsightsGroup } from '../../../src/evidence/aws/past-logs.ts';
import type { PastLog } from '../../../src/triage/ports.ts';
import { withAws } from './with-aws.ts';

const group = containerInsightsGroup('prod');
const wanted: PastLog = {
  namespace: 'shop',
  pod: 'web-1',
  previous: false,
  since: '2026-05-01T10:00:00.000Z',
  until: '2026-05-01T10:40:00.000Z',
};
const event = (second: number, log: string, container = 'web') => ({
  timestamp: Date.parse('2026-05-01T10:00:00Z') + second * 1000,
  message: JSON.stringify({ log, stream: 'stdout', kubernetes: { pod_name: 'web-1', container_name: container } }),
});
const call = 'logs.filterLogEvents';

describe('cloudWatchLogsReader', () => {
  it('asks the cluster’s group for the pod, over pages, and gives each container its lines', () =>
    withAws(
      {
        [call]: ({ nextToken }) => ({
          body: nextToken
            ? { events: [event(9, 'panic: boom\n')] }
            : { events: [event(1, 'starting\n'), event(2, 'draining\n', 'proxy')], nextToken: 'more' },
        }),
      },
      async ({ api, account }) => {
        const read = await cloudWatchLogsReader(account, group).read(wanted);
        expect(read).toMatchObject({ ok: true, complete: true });
        expect(read.ok && read.value).toMatchObject([
          { namespace: 'shop', pod: 'web-1', container: 'web', text: 'starting\npanic: boom\n' },
          { container: 'proxy', text: 'draining\n' },
        ]);
        const pattern = '{ ($.kubernetes.namespace_name = "shop") && ($.kubernetes.pod_name = "web-1") }';
        expect(read.ok && read.value[0]!.store).toEqual({
          name: 'CloudWatch Logs',
          reproduce: `aws logs filter-log-events --region us-west-2 --log-group-name /aws/containerinsights/prod/application --start-time 1777629600000 --end-time 1777632000000 --filter-pattern '${pattern}'`,
        });
        expect(api.requests.filter((request) => request.call === call).map(({ parameters }) => parameters)).toEqual([
          expect.objectContaining({
            logGroupName: group,
            startTime: 1777629600000,
            filterPattern: pattern,
            limit: 1000,
          }),
          expect.objectContaining({ nextToken: 'more' }),
        ]);
      },
    ));

  it('stops after a few pages, and says that there was more', () =>
    withAws(
      { [call]: (_, times) => ({ body: { events: [], nextToken: `page-${times}` } }) },
      async ({ api, account }) => {
        const read = await cloudWatchLogsReader(account, group).read(wanted);
        expect(read).toEqual({ ok: true, value: [], complete: false });
        expect(api.count(call)).toBe(4);
      },
    ));

  it('a group that is not there is a setting to correct; a missing right is named', async () => {
    await withAws({ [call]: { error: 'ResourceNotFoundException', status: 400 } }, async ({ account }) => {
      expect(await cloudWatchLogsReader(account, group).read(wanted)).toMatchObject({
        ok: false,
        gap: { reason: 'not-configured', fix: expect.stringContaining('cloudWatchLogGroup') },
      });
    });
    await withAws({}, async ({ account }) => {
      expect(await cloudWatchLogsReader(account, group).read(wanted)).toMatchObject({
        ok: false,
        gap: { reason: 'forbidden', fix: 'allow `logs:FilterLogEvents` to the read role of this account' },
      });
    });
  });
});
