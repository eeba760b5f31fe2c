import { sql } from 'kysely';
import type { Alert } from '../domain/alert.ts';
import { layers } from '../domain/layer.ts';
import { advance, type KnownAlert, type Lifecycle, reopens } from '../incidents/lifecycle.ts';
import type { CorrelatedAlert, IncidentOutcome, IncomingNotification } from '../incidents/ports.ts';
import { announce } from './changes.ts';
import { digest, toJson, toText } from './stored-json.ts';
import type { AlertInsert, Db, IncidentRow } from './tables.ts';

/** PostgreSQL takes 65,535 parameters in a statement; this stays far below. */
const rowsPerInsert = 500;

const alertId = (alert: Alert): string => digest(alert.fingerprint, alert.startsAt);

/** Records a notification inside the transaction `db`. */
export async function recordNotification(
  db: Db,
  notification: IncomingNotification,
  newId: () => string,
): Promise<IncidentOutcome[]> {
  const { heartbeat = [], alert = [] } = Object.groupBy(notification.alerts, (a) =>
    a.heartbeat ? 'heartbeat' : 'alert',
  );
  await recordHeartbeats(db, heartbeat, notification.receivedAt);
  const groups = await groupByIncident(db, alert, notification.receivedAt);
  const outcomes: IncidentOutcome[] = [];
  for (const group of groups) {
    const outcome = await recordGroup(db, group, notification, newId);
    if (outcome) outcomes.push(outcome);
  }
  await dropUnusedKeys(db, alert);
  return outcomes;
}

interface Group {
  incident: IncidentRow | null;
  /** The keys that lead, or are to lead, to this incident. */
  keys: Set<string>;
  alerts: CorrelatedAlert[];
}

/** Locks the keys and then the incidents they lead to, both in one order, so that notifications cannot block each other for good. */
async function groupByIncident(db: Db, alerts: CorrelatedAlert[], now: string): Promise<Group[]> {
  if (alerts.length === 0) return [];
  const incidentOf = await lockKeys(db, alerts);
  const ids = [...new Set(incidentOf.values())].filter((id) => id !== null);
  const rows = ids.length
    ? await db.selectFrom('incidents').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()
    : [];
  const usable = new Map(
    rows
      .filter((row) => row.resolved_at === null || reopens(row.resolved_at.toISOString(), now))
      .map((row) => [row.id, row]),
  );
  const groups = new Map<string, Group>();
  for (const alert of alerts) {
    const key = keyOf(alert);
    const incident = usable.get(incidentOf.get(key) ?? '') ?? null;
    const name = incident?.id ?? key;
    const group = groups.get(name) ?? { incident, keys: new Set(), alerts: [] };
    group.keys.add(key);
    group.alerts.push(alert);
    groups.set(name, group);
  }
  return [...groups.values()];
}

const keyOf = (alert: CorrelatedAlert): string => digest(alert.cluster, alert.correlationKey);

/** Adding a key waits for another transaction that adds it and then sees the incident it made: never a second one. */
async function lockKeys(db: Db, alerts: CorrelatedAlert[]): Promise<Map<string, string | null>> {
  const keys = [...new Set(alerts.map(keyOf))].sort();
  const { rows } = await sql<{ key: string; incident_id: string | null }>`
    insert into correlation_keys as held (key) select unnest(${keys}::text[])
    on conflict (key) do update set incident_id = held.incident_id
    returning key, incident_id`.execute(db);
  return new Map(rows.map((row) => [row.key, row.incident_id]));
}

/** Keys of alerts that never fired here lead nowhere. */
async function dropUnusedKeys(db: Db, alerts: CorrelatedAlert[]): Promise<void> {
  const keys = [...new Set(alerts.map(keyOf))];
  await sql`delete from correlation_keys where incident_id is null and key = any(${keys}::text[])`.execute(db);
}

async function recordGroup(
  db: Db,
  group: Group,
  notification: IncomingNotification,
  newId: () => string,
): Promise<IncidentOutcome | null> {
  const now = notification.receivedAt;
  const known = group.incident && { ...group.incident, alerts: await knownAlerts(db, group.incident.id, group.alerts) };
  const next = advance(known, group.alerts, alertId, now);
  const cutOthers = group.incident && notification.truncatedAlerts !== group.incident.truncated_alerts;
  // Alerts joined that we were not sent.
  if (cutOthers && next.change === 'unchanged') next.change = 'joined';
  if (!group.incident && next.change !== 'opened') return null;
  const incidentId = group.incident?.id ?? newId();
  if (group.incident) await updateIncident(db, group.incident, next, notification);
  else await insertIncident(db, incidentId, group.alerts, next, notification);
  await sql`update correlation_keys set incident_id = ${incidentId} where key = any(${[...group.keys]}::text[])`.execute(
    db,
  );
  await saveAlerts(db, incidentId, next.changed, now);
  if (next.change === 'opened' || next.change === 'refired') await announce(db, 'run', incidentId);
  return { incidentId, change: next.change };
}

/** The alerts that fire, and those that the notification speaks of. */
async function knownAlerts(db: Db, incidentId: string, incoming: CorrelatedAlert[]): Promise<KnownAlert[]> {
  const ids = incoming.map(({ alert }) => alertId(alert));
  const rows = await db
    .selectFrom('alerts')
    .select(['id', 'fingerprint', 'status', 'alert', 'changed_at'])
    .where('incident_id', '=', incidentId)
    .where((where) => where.or([where('status', '=', 'firing'), sql<boolean>`id = any(${ids}::text[])`]))
    .execute();
  return rows.map(({ changed_at, ...row }) => ({ ...row, changedAt: changed_at.toISOString() }));
}

async function insertIncident(
  db: Db,
  id: string,
  alerts: CorrelatedAlert[],
  next: Lifecycle,
  { receivedAt, truncatedAlerts, rejected, externalURL }: IncomingNotification,
): Promise<void> {
  const first = alerts.find(({ alert }) => alert.status === 'firing')!;
  const starts = alerts.map(({ alert }) => Date.parse(alert.startsAt)).filter((start) => !Number.isNaN(start));
  const firedAt = starts.length ? new Date(Math.min(...starts)).toISOString() : receivedAt;
  await db
    .insertInto('incidents')
    .values({
      id,
      cluster: toText(first.cluster),
      subject: toJson(first.subject),
      title: toText(first.alert.labels.alertname ?? 'Alert'),
      severity: next.severity,
      status: next.status,
      progress: toJson(waiting),
      acknowledged_by: null,
      fired_at: firedAt,
      opened_at: receivedAt,
      updated_at: receivedAt,
      truncated_alerts: truncatedAlerts,
      rejected: toJson(rejected),
      external_url: toText(externalURL),
    })
    .execute();
}

export const waiting = Object.fromEntries(layers.map((layer) => [layer, 'waiting']));

async function updateIncident(
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
    // Who acknowledged the former outbreak does not know of this one.
    acknowledged_by: null,
  };
  await db
    .updateTable('incidents')
    .set({
      severity: next.severity,
      status: next.status,
      resolved_at: next.status === 'open' ? null : (incident.resolved_at?.toISOString() ?? receivedAt),
      updated_at: receivedAt,
      truncated_alerts: truncatedAlerts,
      ...(rejected.length ? { rejected: toJson(rejected) } : {}),
      ...(next.change === 'refired' ? refired : {}),
    })
    .where('id', '=', incident.id)
    .execute();
}

async function saveAlerts(db: Db, incidentId: string, alerts: KnownAlert[], receivedAt: string): Promise<void> {
  const rows = alerts.map(
    (known): AlertInsert => ({
      incident_id: incidentId,
      id: known.id,
      fingerprint: toText(known.fingerprint),
      status: known.status,
      alert: toJson(known.alert),
      received_at: receivedAt,
      changed_at: known.changedAt,
    }),
  );
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    await db
      .insertInto('alerts')
      .values(rows.slice(start, start + rowsPerInsert))
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

async function recordHeartbeats(db: Db, heartbeats: CorrelatedAlert[], receivedAt: string): Promise<void> {
  for (const { alert, cluster } of heartbeats) {
    const row = {
      cluster: toText(cluster),
      alertname: toText(alert.labels.alertname ?? ''),
      status: alert.status,
      alert: toJson(alert),
      received_at: receivedAt,
    };
    await db
      .insertInto('heartbeats')
      .values({ id: digest(cluster, alert.fingerprint), ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }
}
