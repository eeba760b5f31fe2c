import type { Incident } from '../domain/incident.ts';
import type { IncidentRecord } from '../incidents/ports.ts';
import type { Db, IncidentRow } from './tables.ts';

/** Reads everything stored of one incident. */
export async function readRecord(db: Db, incidentId: string): Promise<IncidentRecord | null> {
  const row = await db.selectFrom('incidents').selectAll().where('id', '=', incidentId).executeTakeFirst();
  if (!row) return null;
  const alerts = await db
    .selectFrom('alerts')
    .select(['alert', 'received_at'])
    .where('incident_id', '=', incidentId)
    .orderBy('position')
    .execute();
  const readings = await db
    .selectFrom('readings')
    .select(['layer', 'reading'])
    .where('incident_id', '=', incidentId)
    .where('run', '=', row.run)
    .execute();
  return {
    incident: toIncident(row),
    alerts: alerts.map(({ alert, received_at }) => ({ ...alert, incidentId, receivedAt: received_at.toISOString() })),
    rejected: row.rejected,
    readings: Object.fromEntries(readings.map(({ layer, reading }) => [layer, reading])),
    ...(await newestVerdict(db, incidentId)),
    externalURL: row.external_url,
  };
}

type NewestVerdict = Pick<IncidentRecord, 'verdict' | 'verdictAt' | 'formerOwner' | 'routing' | 'escalation'>;

async function newestVerdict(db: Db, incidentId: string): Promise<NewestVerdict> {
  const [newest, former] = await db
    .selectFrom('verdicts')
    .selectAll()
    .where('incident_id', '=', incidentId)
    .orderBy('run', 'desc')
    .limit(2)
    .execute();
  return {
    verdict: newest?.verdict ?? null,
    verdictAt: newest?.judged_at.toISOString() ?? null,
    formerOwner: newest && former && former.owner !== newest.owner ? former.owner : null,
    routing: newest?.routing ?? null,
    escalation: newest?.escalation ?? null,
  };
}

export const toIncident = (row: IncidentRow): Incident => ({
  id: row.id,
  cluster: row.cluster,
  subject: row.subject,
  title: row.title,
  severity: row.severity,
  status: row.status,
  refires: row.refires,
  run: row.run,
  progress: row.progress,
  acknowledgedBy: row.acknowledged_by,
  firedAt: row.fired_at.toISOString(),
  openedAt: row.opened_at.toISOString(),
  resolvedAt: row.resolved_at?.toISOString() ?? null,
  updatedAt: row.updated_at.toISOString(),
  truncatedAlerts: row.truncated_alerts,
});
