import type { AuditEntry } from '../domain/act.ts';
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
