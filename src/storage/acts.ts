import type { Act, Refusal } from '../domain/act.ts';
import { type ActedOn, perform } from '../incidents/acts.ts';
import { insertAudit } from './audit.ts';
import { toIncident } from './incident-record.ts';
import { toJson, toText } from './stored-json.ts';
import type { Db, IncidentRow } from './tables.ts';

/** Applies an act inside the transaction `db`, with the incident's row locked; null: it is done. */
export async function performAct(
  db: Db,
  incidentId: string,
  act: Act,
  actor: string,
  at: string,
): Promise<Refusal | null> {
  const row = await db.selectFrom('incidents').selectAll().where('id', '=', incidentId).forUpdate().executeTakeFirst();
  if (!row) return 'unknown';
  const performed = perform(actedOn(row), act, actor, at);
  if (performed.refusal !== null) return performed.refusal;
  await db
    .updateTable('incidents')
    .set({ ...columns(performed.set), updated_at: at })
    .where('id', '=', incidentId)
    .execute();
  await insertAudit(db, { at, incidentId, actor, action: performed.action, detail: performed.detail });
  return null;
}

const actedOn = (row: IncidentRow): ActedOn => ({ ...toIncident(row), handOff: row.hand_off });

const columns = ({ status, acknowledgedBy, assignedTo, resolvedBy, resolvedAt, handOff }: Partial<ActedOn>) => ({
  ...(status !== undefined && { status }),
  ...(acknowledgedBy !== undefined && { acknowledged_by: optionalText(acknowledgedBy) }),
  ...(assignedTo !== undefined && { assigned_to: optionalText(assignedTo) }),
  ...(resolvedBy !== undefined && { resolved_by: optionalText(resolvedBy) }),
  ...(resolvedAt !== undefined && { resolved_at: resolvedAt }),
  ...(handOff !== undefined && { hand_off: handOff && toJson(handOff) }),
});

const optionalText = (text: string | null): string | null => text && toText(text);
