import { sql } from 'kysely';
import type { AuditEntry } from '../domain/audit.ts';
import { toText } from './stored-json.ts';
import type { Db } from './tables.ts';

export const insertAudit = async (db: Db, { incidentId, ...entry }: AuditEntry): Promise<void> => {
  await db
    .insertInto('audit')
    .values({
      at: entry.at,
      incident_id: incidentId,
      actor: toText(entry.actor),
      action: entry.action,
      detail: toText(entry.detail),
    })
    .execute();
};

/** Everything that was done to an incident, in order. */
export const readAudit = async (db: Db, incidentId: string): Promise<AuditEntry[]> => {
  const rows = await db.selectFrom('audit').selectAll().where('incident_id', '=', incidentId).orderBy('id').execute();
  return rows.map(({ at, incident_id, actor, action, detail }) => ({
    at: at.toISOString(),
    incidentId: incident_id,
    actor,
    action,
    detail,
  }));
};

/** The part of `readRecord`'s statement that reads the last hundred entries, oldest first; times are PostgreSQL's. */
export const trailOf = sql<AuditEntry[]>`(select coalesce(json_agg(json_build_object('at', at, 'incidentId',
  incident_id, 'actor', actor, 'action', action, 'detail', detail) order by id), '[]')
  from (select * from audit where incident_id = i.id order by id desc limit 100) newest)`;
