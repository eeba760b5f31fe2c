import { sql } from 'kysely';
import type { CorrelatedAlert } from '../incidents/ports.ts';
import { digest } from './stored-json.ts';
import type { Db } from './tables.ts';

/** What a key is stored as: of one length, and showing nothing of the labels it was made from. */
export const keyOf = (alert: CorrelatedAlert): string => digest(alert.cluster, alert.correlationKey);

/**
 * Locks the keys, always in the same order, and answers the incident that each leads to. Adding a key waits for another
 * transaction that adds it and then sees the incident it made: never a second one.
 */
export async function lockKeys(db: Db, keys: Set<string>): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ key: string; incident_id: string | null }>`
    insert into correlation_keys as held (key) select unnest(${[...keys].sort()}::text[])
    on conflict (key) do update set incident_id = held.incident_id
    returning key, incident_id`.execute(db);
  return new Map(rows.map((row) => [row.key, row.incident_id]));
}

/** Lets each key lead to its incident; a key without one (its alert never fired here) leads nowhere and goes. */
export async function pointKeys(db: Db, incidentOf: Map<string, string | null>): Promise<void> {
  const entries = [...incidentOf];
  await sql`
    update correlation_keys k set incident_id = pointed.incident_id
    from unnest(${entries.map(([key]) => key)}::text[], ${entries.map(([, id]) => id)}::text[])
      as pointed (key, incident_id)
    where k.key = pointed.key and k.incident_id is distinct from pointed.incident_id
      and pointed.incident_id is not null`.execute(db);
  const unused = entries.filter(([, id]) => id === null).map(([key]) => key);
  if (unused.length === 0) return;
  await sql`delete from correlation_keys where incident_id is null and key = any(${unused}::text[])`.execute(db);
}
