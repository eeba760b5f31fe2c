import type { ColumnType, Generated, Insertable, Kysely, Selectable, Transaction } from 'kysely';
import type { Alert, Subject } from '../domain/alert.ts';
import type { IncidentStatus, LayerProgress, Severity } from '../domain/incident.ts';
import type { Layer, Owner } from '../domain/layer.ts';
import type { OutboxState } from '../domain/message.ts';
import type { Silence } from '../domain/silence.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Escalation, HandOff, LayerReading, Routing } from '../domain/view.ts';

/** Written as ISO 8601, read as a Date. */
type Time = ColumnType<Date, string, string>;
type OptionalTime = ColumnType<Date | null, string | null | undefined, string | null>;
/** Written by `toJson`, read as the value. */
type Json<T> = ColumnType<T, string, string>;
type OptionalJson<T> = ColumnType<T | null, string | null, string | null>;

interface IncidentsTable {
  id: string;
  cluster: string;
  subject: Json<Subject>;
  title: string;
  severity: Severity;
  status: IncidentStatus;
  refires: Generated<number>;
  run: Generated<number>;
  /** The newest run that ended, with a verdict or without; smaller than `run` while one is due. */
  judged_run: Generated<number>;
  /** Deadline of a verdict that called the state expected. */
  recheck_at: OptionalTime;
  progress: Json<Record<Layer, LayerProgress>>;
  acknowledged_by: string | null;
  assigned_to: string | null;
  resolved_by: string | null;
  hand_off: OptionalJson<HandOff>;
  fired_at: Time;
  opened_at: Time;
  resolved_at: OptionalTime;
  updated_at: Time;
  truncated_alerts: number;
  rejected: Json<string[]>;
  external_url: string;
}

interface CorrelationKeysTable {
  /** Digest of cluster and key. */
  key: string;
  /** The newest incident of the key. Null only within the transaction that adds the key. */
  incident_id: string | null;
}

interface AlertsTable {
  incident_id: string;
  /** Digest of fingerprint and startsAt: one row per time an alert fired. */
  id: string;
  fingerprint: string;
  status: Alert['status'];
  alert: Json<Alert>;
  received_at: Time;
  /** When the status was last changed by a notification. */
  changed_at: Time;
  position: Generated<number>;
}

interface FactsTable {
  incident_id: string;
  run: number;
  layer: Layer;
  body: Uint8Array;
}

interface ReadingsTable {
  incident_id: string;
  run: number;
  layer: Layer;
  reading: Json<LayerReading>;
}

interface VerdictsTable {
  incident_id: string;
  run: number;
  owner: Owner;
  rule_set: string;
  verdict: Json<Verdict>;
  routing: Json<Routing>;
  escalation: OptionalJson<Escalation>;
  judged_at: Time;
}

interface OutboxTable {
  incident_id: string;
  slot: string;
  /** Order within the thread; the root is 0. */
  position: number;
  text: string;
  blocks: Json<unknown[]>;
  revision: Generated<number>;
  state: OutboxState;
  /** Channel of a message that is not in the thread. */
  elsewhere: string | null;
  channel: string;
  ts: string | null;
  attempts: Generated<number>;
  attempted_at: OptionalTime;
  uncertain_since: OptionalTime;
  /** Null: never again. */
  not_before: OptionalTime;
  last_error: string | null;
}

interface AuditTable {
  id: Generated<number>;
  at: Time;
  incident_id: string | null;
  actor: string;
  action: string;
  detail: string;
}

interface HeartbeatsTable {
  /** Digest of cluster and fingerprint. */
  id: string;
  cluster: string;
  alertname: string;
  status: Alert['status'];
  /** How the alert is judged: `expected`, always. */
  state: Generated<'expected'>;
  alert: Json<Alert>;
  received_at: Time;
}

interface SilencesTable {
  incident_id: string;
  /** Alertmanager's. */
  id: string;
  silence: Json<Silence>;
  /** When a person ended it; it may have run out before. */
  ended_at: OptionalTime;
}

export interface Tables {
  incidents: IncidentsTable;
  correlation_keys: CorrelationKeysTable;
  alerts: AlertsTable;
  facts: FactsTable;
  readings: ReadingsTable;
  verdicts: VerdictsTable;
  outbox: OutboxTable;
  audit: AuditTable;
  heartbeats: HeartbeatsTable;
  silences: SilencesTable;
}

export type IncidentRow = Selectable<IncidentsTable>;
export type IncidentInsert = Insertable<IncidentsTable>;
export type AlertInsert = Insertable<AlertsTable>;
export type OutboxRecord = Selectable<OutboxTable>;

/** The database, or a transaction on it. */
export type Db = Kysely<Tables> | Transaction<Tables>;
