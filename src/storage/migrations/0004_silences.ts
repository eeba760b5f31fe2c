import { type Kysely, sql } from 'kysely';

/** Silences that were asked for from an incident. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table silences (
    incident_id text not null references incidents on delete cascade,
    id text not null,
    silence json not null,
    ended_at timestamptz,
    primary key (incident_id, id)
  )`.execute(db);
}
