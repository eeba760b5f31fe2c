import { sql } from 'kysely';

import type { Confidence, Owner } from '../domain/layer.ts';
import type { IncidentFilter, IncidentSummary } from '../incidents/ports.ts';
import { toIncident } from './incident-record.ts';
import { toText } from './stored-json.ts';
import type { Db, IncidentRow } from './tables.ts';

interface SummaryRow extends IncidentRow {
  shown_owner: Owner | null;
  shown_party: string | null;
  shown_confidence: Confidence | null;
}

/** Incidents with the owner, party and confidence of their newest verdict, or of the hand-off since. */
export const searchIncidents = async (db: Db, filter: IncidentFilter, limit: number): Promise<IncidentSummary[]> => {
  const wanted = (value: string | undefined, is: (text: string) => ReturnType<typeof sql>) =>
    value === undefined ? sql`true` : is(toText(value));
  const { rows } = await sql<SummaryRow>`
    select * from (
      select i.*,
        coalesce(i.hand_off->>'to', v.owner) as shown_owner,
        coalesce(i.hand_off->'routing'->>'party', v.routing->>'party') as shown_party,
        case when i.hand_off is null then v.verdict->>'confidence' end as shown_confidence
      from incidents i
      left join lateral (
        select owner, routing, verdict from verdicts where incident_id = i.id order by run desc limit 1
      ) v on true
    ) shown
    where ${wanted(filter.status, (text) => sql`status = ${text}`)}
      and ${wanted(filter.cluster, (text) => sql`cluster = ${text}`)}
      and ${wanted(filter.owner, (text) => sql`shown_owner = ${text}`)}
      and ${wanted(filter.party, (text) => sql`lower(shown_party) = lower(${text})`)}
      and ${wanted(filter.person, (text) => sql`${text} in (acknowledged_by, assigned_to)`)}
    order by opened_at desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    incident: toIncident(row),
    owner: row.shown_owner,
    party: row.shown_party,
    confidence: row.shown_confidence,
  }));
};

export const idsWithPrefix = async (db: Db, prefix: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('incidents')
    .select('id')
    .where(sql<boolean>`starts_with(id, ${toText(prefix)})`)
    .limit(2)
    .execute();
  return rows.map(({ id }) => id);
};

export const incidentAt = async (db: Db, channel: string, ts: string): Promise<string | null> => {
  const row = await db
    .selectFrom('outbox')
    .select('incident_id')
    .where('slot', '=', 'root')
    .where('channel', '=', toText(channel))
    .where('ts', '=', toText(ts))
    .executeTakeFirst();
  return row?.incident_id ?? null;
};
