import { describe, expect, it } from 'vitest';
import health from '../../../handlers/pages/health.ts';
import metrics from '../../../handlers/pages/metrics.ts';
import ready from '../../../handlers/pages/ready.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { createServer } from '../../../src/http/server.ts';
import { type IncidentStore, type IncomingNotification, StorageUnavailable } from '../../../src/incidents/ports.ts';
import { handlerDeps } from '../../fakes/handler-deps.ts';

const up = async () => {};
const down = async () => {
  throw new Error('connect postgres://u:hunter2@db ECONNREFUSED');
};
const get = (url: string, given: Parameters<typeof handlerDeps>[0] = {}) =>
  createServer(handlerDeps(given), [health, ready, metrics]).inject(url);

it('is healthy whatever its neighbours do', async () => {
  const response = await get('/healthz', { checks: { database: down, queue: down } });
  expect(response.statusCode).toBe(200);
});

describe('/readyz', () => {
  it.each([
    ['both are up', { database: up, queue: up }, 200, { database: 'ok', queue: 'ok' }],
    ['the database is away', { database: down, queue: up }, 503, { database: 'unavailable', queue: 'ok' }],
    [
      'the queue hangs',
      { database: up, queue: () => new Promise<void>(() => {}) },
      503,
      { database: 'ok', queue: 'unavailable' },
    ],
  ])('answers when %s', async (_, checks, status, body) => {
    const response = await get('/readyz', { checks });
    expect({ status: response.statusCode, body: response.json() }).toEqual({ status, body });
  });
});

describe('/metrics', () => {
  const notification = (heartbeats: number, alerts: number, rejected: number): IncomingNotification => ({
    receivedAt: '',
    receiver: '',
    groupKey: '',
    externalURL: '',
    truncatedAlerts: 0,
    rejected: Array(rejected).fill('reason'),
    alerts: [...Array(heartbeats).fill({ heartbeat: true }), ...Array(alerts).fill({ heartbeat: false })],
  });
  const storeWith = (heartbeats: IncidentStore['heartbeats']) => ({ heartbeats }) as IncidentStore;

  it('tells what was received and judged, what waits, and how old each heartbeat is', async () => {
    const counted = createMetrics();
    counted.received(notification(1, 3, 2), [
      { incidentId: 'a', change: 'opened' },
      { incidentId: 'b', change: 'opened' },
    ]);
    counted.triaged(12_000, 'fault', 'app');
    const response = await get('/metrics', {
      metrics: counted,
      store: storeWith(async () => ({ eu: '2026-11-20T08:29:00.000Z', us: '2026-11-20T08:20:00.000Z' })),
      outboxDepth: async () => 4,
      deadJobs: async () => 1,
    });
    expect(response.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of [
      'faultline_alerts_total{result="heartbeat"} 1',
      'faultline_alerts_total{result="accepted"} 3',
      'faultline_alerts_total{result="set_aside"} 2',
      'faultline_incident_changes_total{change="opened"} 2',
      'faultline_triage_duration_seconds_bucket{le="10",state="fault",owner="app"} 0',
      'faultline_triage_duration_seconds_bucket{le="20",state="fault",owner="app"} 1',
      'faultline_outbox_messages 4',
      'faultline_dead_jobs 1',
      'faultline_watchdog_age_seconds{cluster="eu"} 60',
      'faultline_watchdog_age_seconds{cluster="us"} 600',
    ]) {
      expect(response.body.split('\n')).toContain(line);
    }
  });

  it('still answers while the database is away', async () => {
    const away = async (): Promise<never> => {
      throw new StorageUnavailable('gone');
    };
    const response = await get('/metrics', { store: storeWith(away), outboxDepth: away });
    expect(response.statusCode).toBe(200);
    expect(response.body).toMatch(/^faultline_outbox_messages Nan$/im);
    expect(response.body).not.toMatch(/^faultline_watchdog_age_seconds\{/m);
  });
});
