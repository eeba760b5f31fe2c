import { sql } from 'kysely';
import type { Confidence, Layer } from '../domain/layer.ts';
import type { Judged } from '../incidents/accuracy.ts';
import type { Db } from './tables.ts';

interface JudgedRow {
  owner: Layer;
  rule: string | null;
  confidence: Confidence;
  corrected: boolean;
  acknowledged_after_ms: string | number | null;
  handed_over_after_ms: string | number | null;
}

/** Incidents opened since then whose newest verdict says that somebody has to act, and who. */
export const judgedSince = async (db: Db, since: string): Promise<Judged[]> => {
  const { rows } = await sql<JudgedRow>`
    select v.owner, v.verdict->>'rule' as rule, v.verdict->>'confidence' as confidence,
      exists (select 1 from audit where incident_id = i.id and action = 'correct-owner') as corrected,
      extract(epoch from (select min(at) from audit where incident_id = i.id and action = 'acknowledge') - i.opened_at)
        * 1000 as acknowledged_after_ms,
      extract(epoch from
        (select min(at) from audit where incident_id = i.id and action in ('hand-off', 'correct-owner')) - i.opened_at)
        * 1000 as handed_over_after_ms
    from incidents i
    join lateral (
      select owner, verdict from verdicts where incident_id = i.id order by run desc limit 1
    ) v on true
    where i.opened_at >= ${since}::timestamptz and v.owner <> 'undetermined' and v.verdict->>'state' = 'fault'`.execute(
    db,
  );
  return rows.map((row) => ({
    owner: row.owner,
    rule: row.rule,
    confidence: row.confidence,
    corrected: row.corrected,
    acknowledgedAfterMs: row.acknowledged_after_ms === null ? null : Number(row.acknowledged_after_ms),
    handedOverAfterMs: row.handed_over_after_ms === null ? null : Number(row.handed_over_after_ms),
  }));
};
