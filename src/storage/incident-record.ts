import { sql } from 'kysely';
import type { Alert } from '../domain/alert.ts';
import type { AuditEntry } from '../domain/audit.ts';
import type { Incident } from '../domain/incident.ts';
import type { Layer, Owner } from '../domain/layer.ts';
import type { Silence } from '../domain/silence.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Escalation, IncidentRecord, LayerReading, Routing } from '../domain/view.ts';
import { trailOf } from './audit.ts';
import { silencesOf } from './silences.ts';
import type { Db, IncidentRow } from './tables.ts';

/** Times inside are PostgreSQL's, not yet ISO 8601. */
interface RecordRow extends IncidentRow {
  alerts: { alert: Alert; receivedAt: string }[];
  readings: { layer: Layer; reading: LayerReading }[];
  verdicts: StoredVerdict[];
  silences: Silence[];
  trail: AuditEntry[];
}

interface StoredVerdict {
  owner: Owner;
  verdict: Verdict;
  routing: Routing;
  escalation: Escalation | null;
  judgedAt: string;
}

/** Reads everything stored of one incident, in one statement: it is read with every change, to render the thread. */
export async function readRecord(db: Db, incidentId: string): Promise<IncidentRecord | null> {
  const { rows } = await sql<RecordRow>`
    select i.*,
      (select coalesce(json_agg(json_build_object('alert', alert, 'receivedAt', received_at) order by position), '[]')
        from alerts where incident_id = i.id) as alerts,
      (select coalesce(json_agg(json_build_object('layer', layer, 'reading', reading)), '[]')
        from readings where incident_id = i.id and run = i.run) as readings,
      (select coalesce(json_agg(newest), '[]') from (
        select owner, verdict, routing, escalation, judged_at as "judgedAt"
        from verdicts where incident_id = i.id order by run desc limit 2) newest) as verdicts,
      ${silencesOf} as silences,
      ${trailOf} as trail
    from incidents i where i.id = ${incidentId}`.execute(db);
  const row = rows[0];
  if (!row) return null;
  return {
    incident: toIncident(row),
    alerts: row.alerts.map(({ alert, receivedAt }) => ({ ...alert, incidentId, receivedAt: iso(receivedAt) })),
    rejected: row.rejected,
    readings: Object.fromEntries(row.readings.map(({ layer, reading }) => [layer, reading])),
    ...newestOf(row.verdicts),
    ...(row.hand_off && { routing: row.hand_off.routing, escalation: row.hand_off.escalation }),
    handOff: row.hand_off,
    silences: row.silences,
    trail: row.trail.map((entry) => ({ ...entry, at: iso(entry.at) })),
    externalURL: row.external_url,
  };
}

const newestOf = ([newest, former]: StoredVerdict[]) => ({
  verdict: newest?.verdict ?? null,
  verdictAt: newest ? iso(newest.judgedAt) : null,
  formerOwner: newest && former && former.owner !== newest.owner ? former.owner : null,
  formerState: newest && former && former.verdict.state !== newest.verdict.state ? former.verdict.state : null,
  routing: newest?.routing ?? null,
  escalation: newest?.escalation ?? null,
});

const iso = (time: string): string => new Date(time).toISOString();

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
  assignedTo: row.assigned_to,
  resolvedBy: row.resolved_by,
  firedAt: row.fired_at.toISOString(),
  openedAt: row.opened_at.toISOString(),
  resolvedAt: row.resolved_at?.toISOString() ?? null,
  updatedAt: row.updated_at.toISOString(),
  truncatedAlerts: row.truncated_alerts,
});
