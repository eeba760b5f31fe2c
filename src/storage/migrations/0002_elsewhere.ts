import { type Kysely, sql } from 'kysely';

/** A message that stands by itself in another channel than the thread's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table outbox add column elsewhere text`.execute(db);
}
