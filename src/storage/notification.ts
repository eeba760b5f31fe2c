import { sql } from 'kysely';
import type { Alert } from '../domain/alert.ts';
import { advance, type KnownAlert, reopens } from '../incidents/lifecycle.ts';
import type { CorrelatedAlert, IncidentOutcome, IncomingNotification } from '../incidents/ports.ts';
import { announce } from './changes.ts';
import { keyOf, lockKeys, pointKeys } from './correlation-keys.ts';
import {
  type Group,
  type IncidentStep,
  insertIncidents,
  saveAlerts,
  saveHeartbeats,
  updateIncident,
} from './notification-rows.ts';
import { digest } from './stored-json.ts';
import type { Db, IncidentRow } from './tables.ts';

const alertId = (alert: Alert): string => digest(alert.fingerprint, alert.startsAt);

/** Records a notification inside the transaction `db`, in a number of statements that does not grow with its alerts. */
export async function recordNotification(
  db: Db,
  notification: IncomingNotification,
  newId: () => string,
): Promise<IncidentOutcome[]> {
  const { heartbeat = [], alert: alerts = [] } = Object.groupBy(notification.alerts, (a) =>
    a.heartbeat ? 'heartbeat' : 'alert',
  );
  await saveHeartbeats(db, heartbeat, notification.receivedAt);
  if (alerts.length === 0) return [];

  // Keys first, then incidents, each in one order: notifications cannot block each other for good.
  const incidentOf = await lockKeys(db, new Set(alerts.map(keyOf)));
  const groups = groupByIncident(alerts, incidentOf, await lockIncidents(db, incidentOf, notification.receivedAt));
  const known = await knownAlerts(db, groups);
  const steps = groups.flatMap((group) => stepOf(group, known, notification, newId));

  await insertIncidents(
    db,
    steps.filter((step) => step.incident === null),
    notification,
  );
  for (const step of steps) if (step.incident) await updateIncident(db, step.incident, step.next, notification);
  for (const { keys, incidentId } of steps) for (const key of keys) incidentOf.set(key, incidentId);
  await pointKeys(db, incidentOf);
  await saveAlerts(db, steps, notification.receivedAt);
  const due = steps.filter(({ next }) => next.change === 'opened' || next.change === 'refired');
  await announce(
    db,
    'run',
    due.map(({ incidentId }) => incidentId),
  );
  return steps.map(({ incidentId, next }) => ({ incidentId, change: next.change }));
}

/** The incidents that the keys lead to and that may still take alerts. */
async function lockIncidents(
  db: Db,
  incidentOf: Map<string, string | null>,
  now: string,
): Promise<Map<string, IncidentRow>> {
  const ids = [...new Set(incidentOf.values())].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('incidents').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute();
  const usable = rows.filter((row) => row.resolved_at === null || reopens(row.resolved_at.toISOString(), now));
  return new Map(usable.map((row) => [row.id, row]));
}

function groupByIncident(
  alerts: CorrelatedAlert[],
  incidentOf: Map<string, string | null>,
  usable: Map<string, IncidentRow>,
): Group[] {
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

/** Per incident the alerts that fire, and those that the notification speaks of. */
async function knownAlerts(db: Db, groups: Group[]): Promise<Map<string, KnownAlert[]>> {
  const known = groups.filter((group) => group.incident !== null);
  if (known.length === 0) return new Map();
  const ids = known.flatMap((group) => group.alerts.map(({ alert }) => alertId(alert)));
  const rows = await db
    .selectFrom('alerts')
    .select(['incident_id', 'id', 'fingerprint', 'status', 'alert', 'changed_at'])
    .where(
      'incident_id',
      'in',
      known.map((group) => group.incident!.id),
    )
    .where((where) => where.or([where('status', '=', 'firing'), sql<boolean>`id = any(${ids}::text[])`]))
    .execute();
  return Map.groupBy(
    rows.map(({ changed_at, ...row }) => ({ ...row, changedAt: changed_at.toISOString() })),
    (row) => row.incident_id,
  );
}

/** Nothing for alerts that resolve what was never seen to fire. */
function stepOf(
  group: Group,
  known: Map<string, KnownAlert[]>,
  { receivedAt, truncatedAlerts }: IncomingNotification,
  newId: () => string,
): IncidentStep[] {
  const { incident, alerts } = group;
  if (!incident) {
    const next = advance(null, alerts, alertId, receivedAt);
    return next.change === 'opened' ? [{ ...group, incidentId: newId(), next }] : [];
  }
  const next = advance({ ...incident, alerts: known.get(incident.id) ?? [] }, alerts, alertId, receivedAt);
  // Alerts came or went that we were not sent.
  const othersChanged = next.status === 'open' && truncatedAlerts !== incident.truncated_alerts;
  const change = othersChanged && next.change === 'unchanged' ? 'joined' : next.change;
  return [{ ...group, incidentId: incident.id, next: { ...next, change } }];
}
