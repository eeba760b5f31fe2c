import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Owner, VerdictState } from '../domain/layer.ts';
import type { IncidentOutcome, IncomingNotification } from '../incidents/ports.ts';

/** State that is read when it is scraped; null where it could not be read. */
interface ScrapedState {
  outboxDepth: number | null;
  deadJobs: number | null;
  /** Newest heartbeat per cluster, ISO 8601. */
  heartbeats: Record<string, string> | null;
  now: string;
}

export interface Metrics {
  received(notification: IncomingNotification, outcomes: IncidentOutcome[]): void;
  triaged(durationMs: number, state: VerdictState, owner: Owner): void;
  /** The metrics in Prometheus' text format. */
  scrape(state: ScrapedState): Promise<{ contentType: string; body: string }>;
}

/** Label values are bounded: no name from an alert becomes one, except clusters that sent a heartbeat. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const alerts = new Counter({
    name: 'faultline_alerts_total',
    help: 'Alerts received, by what became of them.',
    labelNames: ['result'],
    registers,
  });
  const changes = new Counter({
    name: 'faultline_incident_changes_total',
    help: 'Changes of incidents by notifications.',
    labelNames: ['change'],
    registers,
  });
  const triage = new Histogram({
    name: 'faultline_triage_duration_seconds',
    help: 'Time from the start of a triage to its verdict.',
    labelNames: ['state', 'owner'],
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300],
    registers,
  });
  const outbox = new Gauge({ name: 'faultline_outbox_messages', help: 'Messages waiting to be sent.', registers });
  const dead = new Gauge({ name: 'faultline_dead_jobs', help: 'Jobs that used up their attempts.', registers });
  const heartbeat = new Gauge({
    name: 'faultline_watchdog_age_seconds',
    help: "Time since a cluster's newest Watchdog; it grows when the alerting of that cluster is down.",
    labelNames: ['cluster'],
    registers,
  });

  return {
    received(notification, outcomes) {
      const heartbeats = notification.alerts.filter((alert) => alert.heartbeat).length;
      alerts.inc({ result: 'heartbeat' }, heartbeats);
      alerts.inc({ result: 'accepted' }, notification.alerts.length - heartbeats);
      alerts.inc({ result: 'set_aside' }, notification.rejected.length);
      for (const { change } of outcomes) changes.inc({ change });
    },
    triaged(durationMs, state, owner) {
      triage.observe({ state, owner }, durationMs / 1000);
    },
    async scrape({ outboxDepth, deadJobs, heartbeats, now }) {
      outbox.set(outboxDepth ?? Number.NaN);
      dead.set(deadJobs ?? Number.NaN);
      heartbeat.reset();
      for (const [cluster, at] of Object.entries(heartbeats ?? {})) {
        heartbeat.set({ cluster }, Math.max(0, (Date.parse(now) - Date.parse(at)) / 1000));
      }
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
};
