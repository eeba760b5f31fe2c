import { sql } from 'kysely';
import type { Silence } from '../domain/silence.ts';
import { insertAudit } from './audit.ts';
import { toJson } from './stored-json.ts';
import type { Db } from './tables.ts';

/** Keeps a silence that Alertmanager has taken, in place of the one it extends. */
export const saveSilence = async (
  db: Db,
  incidentId: string,
  silence: Silence,
  replaces: string | null,
  at: string,
): Promise<void> => {
  const content = toJson(silence);
  if (replaces !== null && replaces !== silence.id) await endSilence(db, incidentId, replaces, at);
  await db
    .insertInto('silences')
    .values({ incident_id: incidentId, id: silence.id, silence: content })
    .onConflict((conflict) => conflict.columns(['incident_id', 'id']).doUpdateSet({ silence: content, ended_at: null }))
    .execute();
  const detail = `until ${silence.endsAt}: ${silence.reason}`;
  await insertAudit(db, { at, incidentId, actor: silence.by, action: 'silence', detail });
  await touch(db, incidentId, at);
};

export const endSilences = async (
  db: Db,
  incidentId: string,
  ids: string[],
  actor: string,
  at: string,
): Promise<void> => {
  for (const id of ids) await endSilence(db, incidentId, id, at);
  await insertAudit(db, { at, incidentId, actor, action: 'unsilence', detail: `${ids.length} ended` });
  await touch(db, incidentId, at);
};

const endSilence = async (db: Db, incidentId: string, id: string, at: string): Promise<void> => {
  await db
    .updateTable('silences')
    .set({ ended_at: at })
    .where('incident_id', '=', incidentId)
    .where('id', '=', id)
    .execute();
};

const touch = async (db: Db, incidentId: string, at: string): Promise<void> => {
  await db.updateTable('incidents').set({ updated_at: at }).where('id', '=', incidentId).execute();
};

/** The part of `readRecord`'s statement that reads the silences nobody has ended. */
export const silencesOf = sql<Silence[]>`(select coalesce(json_agg(silence order by id), '[]')
  from silences where incident_id = i.id and ended_at is null)`;
