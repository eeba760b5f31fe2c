import type { Alert } from '../domain/alert.ts';
import { layers } from '../domain/layer.ts';
import type { Lifecycle } from '../incidents/lifecycle.ts';
import type { CorrelatedAlert, IncomingNotification } from '../incidents/ports.ts';
import { digest, toJson, toText } from './stored-json.ts';
import type { AlertInsert, Db, IncidentInsert, IncidentRow } from './tables.ts';

/** The alerts of a notification that belong to one incident. */
export interface Group {
  /** Null: it is to be opened. */
  incident: IncidentRow | null;
  /** The keys that lead, or are to lead, to this incident. */
  keys: Set<string>;
  alerts: CorrelatedAlert[];
}

/** What a notification makes of one incident. */
export interface IncidentStep extends Group {
  incidentId: string;
  next: Lifecycle;
}

/** PostgreSQL takes 65,535 parameters in a statement; this stays far below. */
const rowsPerInsert = 500;

const chunks = <T>(rows: T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / rowsPerInsert) }, (_, i) =>
    rows.slice(i * rowsPerInsert, (i + 1) * rowsPerInsert),
  );

export const waiting = Object.fromEntries(layers.map((layer) => [layer, 'waiting']));

export async function insertIncidents(
  db: Db,
  steps: IncidentStep[],
  notification: IncomingNotification,
): Promise<void> {
  for (const some of chunks(steps.map((step) => newIncident(step, notification)))) {
    await db.insertInto('incidents').values(some).execute();
  }
}

/** The first alert that fires names the incident. */
function newIncident(
  { incidentId, alerts, next }: IncidentStep,
  { receivedAt, truncatedAlerts, rejected, externalURL }: IncomingNotification,
): IncidentInsert {
  const first = alerts.find(({ alert }) => alert.status === 'firing')!;
  const starts = alerts.map(({ alert }) => Date.parse(alert.startsAt)).filter((start) => !Number.isNaN(start));
  return {
    id: incidentId,
    cluster: toText(first.cluster),
    subject: toJson(first.subject),
    title: toText(first.alert.labels.alertname ?? 'Alert'),
    severity: next.severity,
    status: next.status,
    progress: toJson(waiting),
    acknowledged_by: null,
    fired_at: starts.length > 0 ? new Date(Math.min(...starts)).toISOString() : receivedAt,
    opened_at: receivedAt,
    updated_at: receivedAt,
    truncated_alerts: truncatedAlerts,
    rejected: toJson(rejected),
    external_url: toText(externalURL),
  };
}

export async function updateIncident(
  db: Db,
  incident: IncidentRow,
  next: Lifecycle,
  { receivedAt, truncatedAlerts, rejected }: IncomingNotification,
): Promise<void> {
  if (next.change === 'unchanged' && rejected.length === 0) return;
  const refired = {
    refires: incident.refires + 1,
    run: incident.run + 1,
    progress: toJson(waiting),
    // Who acknowledged or closed the former outbreak does not know of this one.
    acknowledged_by: null,
    resolved_by: null,
  };
  await db
    .updateTable('incidents')
    .set({
      severity: next.severity,
      status: next.status,
      resolved_at: next.status === 'open' ? null : (incident.resolved_at?.toISOString() ?? receivedAt),
      updated_at: receivedAt,
      truncated_alerts: truncatedAlerts,
      ...(rejected.length > 0 ? { rejected: toJson(rejected) } : {}),
      ...(next.change === 'refired' ? refired : {}),
    })
    .where('id', '=', incident.id)
    .execute();
}

export async function saveAlerts(db: Db, steps: IncidentStep[], receivedAt: string): Promise<void> {
  const rows = steps.flatMap(({ incidentId, next }) =>
    next.changed.map(
      (known): AlertInsert => ({
        incident_id: incidentId,
        id: known.id,
        fingerprint: toText(known.fingerprint),
        status: known.status,
        alert: toJson(known.alert),
        received_at: receivedAt,
        changed_at: known.changedAt,
      }),
    ),
  );
  for (const some of chunks(rows)) {
    await db
      .insertInto('alerts')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['incident_id', 'id']).doUpdateSet((excluded) => ({
          status: excluded.ref('excluded.status'),
          alert: excluded.ref('excluded.alert'),
          changed_at: excluded.ref('excluded.changed_at'),
        })),
      )
      .execute();
  }
}

/** One row per heartbeat alert, however often it comes. */
export async function saveHeartbeats(db: Db, heartbeats: CorrelatedAlert[], receivedAt: string): Promise<void> {
  for (const { alert, cluster } of heartbeats) {
    const row = heartbeatRow(alert, cluster, receivedAt);
    await db
      .insertInto('heartbeats')
      .values({ id: digest(cluster, alert.fingerprint), ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }
}

const heartbeatRow = (alert: Alert, cluster: string, receivedAt: string) => ({
  cluster: toText(cluster),
  alertname: toText(alert.labels.alertname ?? ''),
  status: alert.status,
  alert: toJson(alert),
  received_at: receivedAt,
});
