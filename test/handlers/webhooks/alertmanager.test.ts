import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import alertmanager from '../../../handlers/webhooks/alertmanager.ts';
import type { HandlerDeps } from '../../../src/http/deps.ts';
import { createServer } from '../../../src/http/server.ts';
import { type IncidentOutcome, type IncomingNotification, StorageUnavailable } from '../../../src/incidents/ports.ts';
import { configOf, handlerDeps } from '../../fakes/handler-deps.ts';

const config = configOf(`
clusters: [{name: prod, aliases: [prod-usw2], inCluster: true}, {name: other, context: other}]
webhooks: {alertmanagerToken: everything, tokens: [{name: am-other, token: just-other, clusters: [other]}]}
`);
const body = readFileSync('test/cases/crashloop-report-worker/alert.json', 'utf8');
const outcome: IncidentOutcome = { incidentId: '01J', change: 'opened' };

const received: IncomingNotification[] = [];
const record: HandlerDeps['receive'] = async (notification) => {
  received.push(notification);
  return [outcome];
};
const post = (payload: string, token = 'everything', receive = record) => {
  received.length = 0;
  return createServer(handlerDeps({ config, receive }), [alertmanager]).inject({
    method: 'POST',
    url: '/webhooks/alertmanager',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload,
  });
};

describe('POST /webhooks/alertmanager', () => {
  it('hands the correlated alerts on and lists the incidents', async () => {
    const response = await post(body);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ incidents: [outcome], rejected: [] });
    expect(received).toMatchObject([
      {
        receivedAt: '2026-11-20T08:30:00.000Z',
        alerts: [
          { cluster: 'prod', severity: 'warning', subject: { kind: 'Pod', namespace: 'reports', cluster: 'prod' } },
        ],
      },
    ]);
  });

  it('answers only after the rows are committed', async () => {
    const order: string[] = [];
    const commit = Promise.withResolvers<void>();
    const answered = post(body, 'everything', async () => {
      await commit.promise;
      order.push('committed');
      return [outcome];
    }).then(() => order.push('answered'));
    setImmediate(commit.resolve);
    await answered;
    expect(order).toEqual(['committed', 'answered']);
  });

  it('counts what it received', async () => {
    const deps = handlerDeps({ config, receive: record });
    const server = createServer(deps, [alertmanager]);
    const headers = { authorization: 'Bearer everything' };
    await server.inject({ method: 'POST', url: '/webhooks/alertmanager', headers, payload: body });
    const { body: metrics } = await deps.metrics.scrape({
      outboxDepth: 0,
      deadJobs: 0,
      heartbeats: {},
      now: deps.now(),
    });
    expect(metrics).toContain('faultline_alerts_total{result="accepted"} 1');
    expect(metrics).toContain('faultline_incident_changes_total{change="opened"} 1');
  });

  it('sets alerts of another cluster aside with the reason, and tells both sides', async () => {
    const response = await post(body, 'just-other');
    const reason = expect.stringMatching(
      /KubePodCrashLooping is for cluster prod, and the token am-other is for other only/,
    );
    expect(response.json().rejected).toEqual([reason]);
    expect(received).toMatchObject([{ alerts: [], rejected: [reason] }]);
  });

  it('sets one malformed alert aside and takes the rest', async () => {
    const group = JSON.parse(body);
    const response = await post(
      JSON.stringify({ ...group, alerts: [{ ...group.alerts[0], labels: 7 }, ...group.alerts] }),
    );
    expect(response.statusCode).toBe(200);
    expect(response.json().rejected).toEqual([expect.stringMatching(/alert 0 is malformed: labels/)]);
    expect(received[0]?.alerts).toHaveLength(1);
  });

  it.each([
    ['400 for what is no JSON', '{', 'everything', 400, /not JSON/],
    ['400 for another version', '{"version":"1"}', 'everything', 400, /version 4/],
    ['401 for a wrong token', body, 'wrong', 401, /token/],
    [
      '413 for too many alerts',
      body.replace(/"alerts": \[/, `$&${'{},'.repeat(10_000)}`),
      'everything',
      413,
      /10001 alerts/,
    ],
  ])('answers %s and hands nothing on', async (_, payload, token, status, error) => {
    const response = await post(payload, token);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toEqual({ error: expect.stringMatching(error), fix: expect.stringMatching(/\S/) });
    expect(received).toEqual([]);
  });

  it('answers 503 while storage is away, so that Alertmanager sends it again', async () => {
    const response = await post(body, 'everything', async () => {
      throw new StorageUnavailable('connection refused');
    });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toEqual({
      error: expect.stringMatching(/nothing was stored/),
      fix: expect.stringMatching(/again/),
    });
  });
});
