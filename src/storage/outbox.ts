import { sql } from 'kysely';
import type { OutboxRow, SendResult, ThreadMessage } from '../domain/message.ts';
import type { Outbox } from '../incidents/ports.ts';
import { atomic } from './atomic.ts';
import { announce } from './changes.ts';
import { toJson, toText } from './stored-json.ts';
import type { Db, OutboxRecord } from './tables.ts';

/**
 * A row in `sending` for longer belongs to a process that died: it is handed out again, to be looked for first. Longer
 * than an attempt can take: read back and post, each with a timeout of 10 s.
 */
const leaseMs = 30_000;

/** An operator's mistake (bot not in the channel, token revoked) is tried again by itself once it may be mended. */
const operatorRetryMs = 5 * 60_000;
/** About a day of such retries; a longer silence ends with the next change of the message. */
const operatorAttempts = 300;

const uncertainRetryMs = 2_000;

export class PostgresOutbox implements Outbox {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  plan(incidentId: string, channel: string, messages: ThreadMessage[]): Promise<void> {
    return atomic(this.#db, async (db) => {
      const changed = await upsert(db, incidentId, channel, messages);
      if (changed > 0n) await announce(db, 'outbox', [incidentId]);
    });
  }

  claim(limit: number, now: string): Promise<OutboxRow[]> {
    return atomic(this.#db, async (db) => {
      // Claims take turns, in all processes: only so can none of them give out a second row of an incident.
      await sql`select pg_advisory_xact_lock(hashtext('faultline_outbox_claim'))`.execute(db);
      const { rows } = await claimable(limit, now).execute(db);
      return rows.map(toRow);
    });
  }

  settle(row: OutboxRow, result: SendResult, now: string): Promise<void> {
    return atomic(this.#db, async (db) => {
      const current = await db
        .selectFrom('outbox')
        .selectAll()
        .where('incident_id', '=', row.incidentId)
        .where('slot', '=', row.slot)
        .forUpdate()
        .executeTakeFirst();
      // Somebody else has it since: our lease ran out while we were sending, or the incident is gone.
      if (current?.state !== 'sending' || current.attempts !== row.attempts) return;
      if (current.attempted_at?.toISOString() !== row.attemptedAt) return;
      await db
        .updateTable('outbox')
        .set(settled(current, row, result, now))
        .where('incident_id', '=', row.incidentId)
        .where('slot', '=', row.slot)
        .execute();
      await announce(db, 'outbox', [row.incidentId]);
    });
  }

  async thread(incidentId: string): Promise<OutboxRow[]> {
    const { rows } = await sql<ClaimedRecord>`
      select o.*, r.ts as root_ts, r.channel as root_channel
      from outbox o left join outbox r on r.incident_id = o.incident_id and r.slot = 'root'
      where o.incident_id = ${incidentId} order by o.position, o.slot`.execute(this.#db);
    return rows.map(toRow);
  }

  async depth(): Promise<number> {
    const { count } = await this.#db
      .selectFrom('outbox')
      .select((row) => row.fn.countAll<string>().as('count'))
      .where('state', 'in', ['planned', 'sending'])
      .executeTakeFirstOrThrow();
    return Number(count);
  }
}

/** Answers how many rows are new or have new content. What was posted stays in its channel. */
async function upsert(db: Db, incidentId: string, channel: string, messages: ThreadMessage[]): Promise<bigint> {
  const rows = messages.map(({ slot, text, blocks, elsewhere }, position) => ({
    slot,
    position,
    text,
    blocks,
    elsewhere,
  }));
  await db
    .deleteFrom('outbox')
    .where('incident_id', '=', incidentId)
    .where(
      'slot',
      'not in',
      rows.map(({ slot }) => slot),
    )
    .where('state', '=', 'planned')
    .where('ts', 'is', null)
    .where('attempts', '=', 0)
    .execute();
  const { numAffectedRows = 0n } = await sql`
    insert into outbox as o (incident_id, slot, position, text, blocks, state, channel, elsewhere, not_before)
    select ${incidentId}, slot, position, text, blocks, 'planned', coalesce(elsewhere, ${channel}), elsewhere, '-infinity'
    from jsonb_to_recordset(${toJson(rows)}::jsonb)
      as planned (slot text, position int, text text, blocks jsonb, elsewhere text)
    on conflict (incident_id, slot) do update set
      position = excluded.position,
      text = excluded.text,
      blocks = excluded.blocks,
      revision = o.revision + 1,
      channel = case when o.ts is null then excluded.channel else o.channel end,
      state = case when o.state = 'sending' then o.state else 'planned' end,
      not_before = case when o.state = 'planned' then o.not_before else '-infinity' end
    where o.text <> excluded.text or o.blocks <> excluded.blocks`.execute(db);
  return numAffectedRows;
}

interface ClaimedRecord extends OutboxRecord {
  root_ts: string | null;
  root_channel: string | null;
}

/**
 * The first row of each incident that may be sent: none of the incident is being sent; a reply has a root to hang on,
 * and no earlier reply that is still to be posted. Edits may overtake.
 */
const claimable = (limit: number, now: string) => sql<ClaimedRecord>`
  with due as (
    select o.incident_id, o.slot, o.position, o.ts,
      row_number() over (partition by o.incident_id order by o.position, o.slot) as turn
    from outbox o
    where (o.not_before <= ${now}::timestamptz and o.state in ('planned', 'failed')
        or o.attempted_at <= ${leaseEnd(now)}::timestamptz and o.state = 'sending')
      and (o.slot = 'root' or exists (
        select from outbox root where root.incident_id = o.incident_id and root.slot = 'root' and root.ts is not null))
      and not exists (
        select from outbox other where other.incident_id = o.incident_id
          and other.state = 'sending' and other.attempted_at > ${leaseEnd(now)}::timestamptz)
      and (o.ts is not null or not exists (
        select from outbox earlier where earlier.incident_id = o.incident_id
          and earlier.position < o.position and earlier.ts is null and earlier.state <> 'failed'))
  ), taken as (
    select o.incident_id, o.slot from outbox o join due using (incident_id, slot)
    where due.turn = 1
    order by due.ts is not null, o.position > 0, o.not_before, o.incident_id
    limit ${limit} for update of o skip locked
  )
  update outbox o set
    state = 'sending',
    uncertain_since = case when o.state = 'sending' then coalesce(o.uncertain_since, o.attempted_at) else o.uncertain_since end,
    attempts = o.attempts + 1,
    attempted_at = ${now}::timestamptz
  from taken left join outbox root on root.incident_id = taken.incident_id and root.slot = 'root'
  where o.incident_id = taken.incident_id and o.slot = taken.slot
  returning o.*, root.ts as root_ts, root.channel as root_channel`;

const leaseEnd = (now: string): string => later(now, -leaseMs);

const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();

/** What an attempt with `sent` as content makes of the row, whose content may have changed meanwhile. */
function settled(current: OutboxRecord, sent: OutboxRow, result: SendResult, now: string) {
  const planned = { state: 'planned' as const, not_before: now };
  switch (result.outcome) {
    case 'sent': {
      const known = { ts: result.ts, channel: result.channel, attempts: 0, uncertain_since: null, last_error: null };
      return current.revision > sent.revision
        ? { ...planned, ...known }
        : { state: 'sent' as const, not_before: null, ...known };
    }
    case 'retry':
      return { ...planned, not_before: later(now, result.afterMs), last_error: toText(result.reason) };
    case 'uncertain': {
      const since = current.uncertain_since ?? current.attempted_at;
      return {
        ...planned,
        not_before: later(now, uncertainRetryMs),
        uncertain_since: since?.toISOString() ?? now,
        last_error: toText(result.reason),
      };
    }
    case 'permanent':
      if (current.revision > sent.revision) return { ...planned, last_error: toText(result.reason) };
      return { state: 'failed' as const, not_before: null, last_error: toText(result.reason) };
    case 'operator':
      return {
        state: 'failed' as const,
        not_before: current.attempts < operatorAttempts ? later(now, operatorRetryMs) : null,
        last_error: toText(`${result.reason}. ${result.fix}`),
      };
  }
}

const toRow = (row: ClaimedRecord): OutboxRow => {
  const isRoot = row.slot === 'root';
  return {
    id: `${row.incident_id}/${row.slot}`,
    incidentId: row.incident_id,
    slot: row.slot,
    text: row.text,
    blocks: row.blocks,
    revision: row.revision,
    state: row.state,
    // A thread is in one channel: the one its root was posted to.
    channel: isRoot || row.ts || row.elsewhere ? row.channel : (row.root_channel ?? row.channel),
    ts: row.ts,
    threadTs: isRoot || row.elsewhere ? null : row.root_ts,
    ...(row.elsewhere ? { elsewhere: row.elsewhere } : {}),
    attempts: row.attempts,
    attemptedAt: row.attempted_at?.toISOString() ?? null,
    uncertainSince: row.uncertain_since?.toISOString() ?? null,
    lastError: row.last_error,
  };
};
