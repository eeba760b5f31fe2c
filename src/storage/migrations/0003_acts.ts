import { type Kysely, sql } from 'kysely';

/** What people do to an incident besides acknowledging it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table incidents
    add column assigned_to text,
    add column resolved_by text,
    add column hand_off json`.execute(db);
}
