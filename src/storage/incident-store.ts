import { sql } from 'kysely';
import type { Act, Refusal } from '../domain/act.ts';
import type { AuditEntry } from '../domain/audit.ts';
import type { LayerFacts } from '../domain/facts.ts';
import type { Incident, LayerProgress } from '../domain/incident.ts';
import { type Layer, layers } from '../domain/layer.ts';
import type { Silence } from '../domain/silence.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Escalation, IncidentRecord, LayerReading, Routing } from '../domain/view.ts';
import type { Judged } from '../incidents/accuracy.ts';
import type {
  DueRun,
  IncidentFilter,
  IncidentOutcome,
  IncidentStore,
  IncidentSummary,
  IncomingNotification,
} from '../incidents/ports.ts';
import { performAct } from './acts.ts';
import { atomic } from './atomic.ts';
import { insertAudit, readAudit } from './audit.ts';
import { announce } from './changes.ts';
import { readRecord, toIncident } from './incident-record.ts';
import { judgedSince } from './judged.ts';
import { recordNotification } from './notification.ts';
import { waiting } from './notification-rows.ts';
import { idsWithPrefix, incidentAt, searchIncidents } from './search.ts';
import { endSilences, saveSilence } from './silences.ts';
import { pack, toJson, unpack } from './stored-json.ts';
import type { Db, IncidentRow } from './tables.ts';

/** Incidents in PostgreSQL. Every change of an incident locks its row first, so that changes follow one another. */
export class PostgresIncidentStore implements IncidentStore {
  readonly #db: Db;
  readonly #newId: () => string;

  constructor(db: Db, newId: () => string) {
    this.#db = db;
    this.#newId = newId;
  }

  recordNotification(notification: IncomingNotification): Promise<IncidentOutcome[]> {
    return atomic(this.#db, (db) => recordNotification(db, notification, this.#newId));
  }

  record(incidentId: string): Promise<IncidentRecord | null> {
    return readRecord(this.#db, incidentId);
  }

  async list(limit: number): Promise<Incident[]> {
    const rows = await this.#db.selectFrom('incidents').selectAll().orderBy('opened_at', 'desc').limit(limit).execute();
    return rows.map(toIncident);
  }

  search(filter: IncidentFilter, limit: number): Promise<IncidentSummary[]> {
    return searchIncidents(this.#db, filter, limit);
  }

  judgedSince(since: string): Promise<Judged[]> {
    return judgedSince(this.#db, since);
  }

  withPrefix(prefix: string): Promise<string[]> {
    return idsWithPrefix(this.#db, prefix);
  }

  atMessage(channel: string, ts: string): Promise<string | null> {
    return incidentAt(this.#db, channel, ts);
  }

  async dueRuns(limit: number): Promise<DueRun[]> {
    const rows = await this.#db
      .selectFrom('incidents')
      .select(['id', 'run'])
      .whereRef('run', '>', 'judged_run')
      .orderBy('updated_at')
      .limit(limit)
      .execute();
    return rows.map(({ id, run }) => ({ incidentId: id, run }));
  }

  async setProgress(incidentId: string, run: number, layer: Layer, progress: LayerProgress): Promise<void> {
    await this.#db
      .updateTable('incidents')
      .set({ progress: sql`progress || ${toJson({ [layer]: progress })}::jsonb` })
      .where('id', '=', incidentId)
      .where('run', '=', run)
      .execute();
  }

  async saveReading(incidentId: string, run: number, facts: LayerFacts, reading: LayerReading): Promise<void> {
    const body = await pack(facts);
    const key = { incident_id: incidentId, run, layer: facts.layer };
    await atomic(this.#db, async (db) => {
      await lock(db, incidentId);
      await db
        .insertInto('facts')
        .values({ ...key, body })
        .onConflict((conflict) => conflict.columns(['incident_id', 'run', 'layer']).doUpdateSet({ body }))
        .execute();
      const json = toJson(reading);
      await db
        .insertInto('readings')
        .values({ ...key, reading: json })
        .onConflict((conflict) => conflict.columns(['incident_id', 'run', 'layer']).doUpdateSet({ reading: json }))
        .execute();
      await new PostgresIncidentStore(db, this.#newId).setProgress(incidentId, run, facts.layer, 'read');
    });
  }

  async facts(incidentId: string): Promise<LayerFacts[]> {
    const rows = await this.#db
      .selectFrom('facts')
      .select(['layer', 'run', 'body'])
      .where('incident_id', '=', incidentId)
      .execute();
    const inOrder = rows.sort((a, b) => a.run - b.run || layers.indexOf(a.layer) - layers.indexOf(b.layer));
    return Promise.all(inOrder.map(({ body }) => unpack<LayerFacts>(body)));
  }

  async saveVerdict(
    incidentId: string,
    run: number,
    verdict: Verdict,
    routing: Routing,
    escalation: Escalation | null,
    at: string,
  ): Promise<void> {
    const content = {
      owner: verdict.owner,
      rule_set: verdict.ruleSet,
      verdict: toJson(verdict),
      routing: toJson(routing),
      escalation: escalation && toJson(escalation),
      judged_at: at,
    };
    await atomic(this.#db, async (db) => {
      await lock(db, incidentId);
      await db
        .insertInto('verdicts')
        .values({ incident_id: incidentId, run, ...content })
        .onConflict((conflict) => conflict.columns(['incident_id', 'run']).doUpdateSet(content))
        .execute();
      await endRun(db, incidentId, run, at);
      await db
        .updateTable('incidents')
        .set({ recheck_at: recheckAt(verdict, at) })
        .where('id', '=', incidentId)
        .execute();
    });
  }

  startRechecks(now: string): Promise<number> {
    return atomic(this.#db, async (db) => {
      const rows = await db
        .updateTable('incidents')
        .set({ run: sql`run + 1`, progress: toJson(waiting), recheck_at: null, updated_at: now })
        .where('status', '=', 'open')
        .where('recheck_at', '<=', sql<Date>`${now}::timestamptz`)
        .whereRef('run', '=', 'judged_run')
        .returning('id')
        .execute();
      await announce(
        db,
        'run',
        rows.map(({ id }) => id),
      );
      return rows.length;
    });
  }

  perform(incidentId: string, act: Act, actor: string, at: string): Promise<Refusal | null> {
    return atomic(this.#db, (db) => performAct(db, incidentId, act, actor, at));
  }

  saveSilence(incidentId: string, silence: Silence, replaces: string | null, at: string): Promise<void> {
    return atomic(this.#db, (db) => saveSilence(db, incidentId, silence, replaces, at));
  }

  endSilences(incidentId: string, ids: string[], actor: string, at: string): Promise<void> {
    return atomic(this.#db, (db) => endSilences(db, incidentId, ids, actor, at));
  }

  requestRun(incidentId: string, actor: string, at: string): Promise<boolean> {
    return atomic(this.#db, async (db) => {
      const row = await db
        .updateTable('incidents')
        .set({ run: sql`run + 1`, progress: toJson(waiting), updated_at: at })
        .where('id', '=', incidentId)
        .whereRef('run', '=', 'judged_run')
        .returning('run')
        .executeTakeFirst();
      if (!row) return false;
      await insertAudit(db, { at, incidentId, actor, action: 'rerun', detail: `run ${row.run}` });
      await announce(db, 'run', [incidentId]);
      return true;
    });
  }

  failRun(incidentId: string, run: number, reason: string, at: string): Promise<void> {
    return atomic(this.#db, async (db) => {
      const row = await lock(db, incidentId);
      if (!row || row.judged_run >= run) return;
      const failed = Object.fromEntries(
        layers.map((layer) => [layer, row.progress[layer] === 'read' ? 'read' : 'failed'] as const),
      );
      await db
        .updateTable('incidents')
        .set({ progress: toJson(failed) })
        .where('id', '=', incidentId)
        .where('run', '=', run)
        .execute();
      await endRun(db, incidentId, run, at);
      await insertAudit(db, { at, incidentId, actor: 'system', action: 'run-failed', detail: `run ${run}: ${reason}` });
    });
  }

  async heartbeats(): Promise<Record<string, string>> {
    const rows = await this.#db
      .selectFrom('heartbeats')
      .select(({ fn }) => ['cluster', fn.max('received_at').as('at')])
      .where('status', '=', 'firing')
      // It comes and goes with other alerts; its age says nothing.
      .where('alertname', '<>', 'InfoInhibitor')
      .groupBy('cluster')
      .execute();
    return Object.fromEntries(rows.map(({ cluster, at }) => [cluster, at.toISOString()]));
  }

  audit(entry: AuditEntry): Promise<void> {
    return insertAudit(this.#db, entry);
  }

  auditTrail(incidentId: string): Promise<AuditEntry[]> {
    return readAudit(this.#db, incidentId);
  }

  async prune(before: string): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('incidents')
      .where('status', '=', 'resolved')
      .where('resolved_at', '<', sql<Date>`${before}::timestamptz`)
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

/** A deadline that has passed when the verdict is made (a snapshot's clock stands still) is no reason to look again. */
const recheckAt = ({ state, deadline }: Verdict, at: string): string | null =>
  state === 'expected' && deadline !== null && Date.parse(deadline) > Date.parse(at) ? deadline : null;

const lock = (db: Db, incidentId: string): Promise<IncidentRow | undefined> =>
  db.selectFrom('incidents').selectAll().where('id', '=', incidentId).forUpdate().executeTakeFirst();

const endRun = async (db: Db, incidentId: string, run: number, at: string): Promise<void> => {
  await db
    .updateTable('incidents')
    .set({ judged_run: sql`greatest(judged_run, ${run}::int)`, updated_at: at })
    .where('id', '=', incidentId)
    .execute();
};
