import type { Alert, Subject } from '../domain/alert.ts';
import type { LayerFacts } from '../domain/facts.ts';
import type { Incident, LayerProgress, Severity, StoredAlert } from '../domain/incident.ts';
import type { Layer, Owner } from '../domain/layer.ts';
import type { OutboxRow, SendResult, ThreadMessage } from '../domain/message.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Escalation, LayerReading, Routing } from '../domain/view.ts';

/** An alert of a notification with what intake derived from its labels alone. */
export interface CorrelatedAlert {
  alert: Alert;
  cluster: string;
  correlationKey: string;
  subject: Subject;
  severity: Severity;
  /** Watchdog and InfoInhibitor: recorded as expected, never posted. */
  heartbeat: boolean;
}

export interface IncomingNotification {
  receivedAt: string;
  receiver: string;
  groupKey: string;
  externalURL: string;
  truncatedAlerts: number;
  /** The body's remaining fields (groupLabels, commonLabels, routeLabels, notification_reason …) as they came. */
  group?: Record<string, unknown>;
  alerts: CorrelatedAlert[];
  /** Reasons for alerts that were set aside. */
  rejected: string[];
}

export type IncidentChange = 'opened' | 'refired' | 'joined' | 'partly-resolved' | 'resolved' | 'unchanged';

export interface IncidentOutcome {
  incidentId: string;
  change: IncidentChange;
}

export interface AuditEntry {
  at: string;
  incidentId: string | null;
  /** `system`, a Slack user id or an operator's name. */
  actor: string;
  action: string;
  detail: string;
}

/** Everything stored of one incident. */
export interface IncidentRecord {
  incident: Incident;
  alerts: StoredAlert[];
  rejected: string[];
  readings: Partial<Record<Layer, LayerReading>>;
  verdict: Verdict | null;
  verdictAt: string | null;
  formerOwner: Owner | null;
  routing: Routing | null;
  escalation: Escalation | null;
  externalURL: string;
}

/** A run whose verdict is still to come: what the relay turns into jobs, again if they were lost. */
export interface DueRun {
  incidentId: string;
  run: number;
}

/** The database is away: the caller answers "try again", nothing was stored. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** The records behind all use cases. Every method is one transaction; it throws `StorageUnavailable` when the database is away. */
export interface IncidentStore {
  /** Idempotent: the same notification twice changes nothing. Commits before it resolves. */
  recordNotification(notification: IncomingNotification): Promise<IncidentOutcome[]>;
  record(incidentId: string): Promise<IncidentRecord | null>;
  list(limit: number): Promise<Incident[]>;
  dueRuns(limit: number): Promise<DueRun[]>;
  setProgress(incidentId: string, run: number, layer: Layer, progress: LayerProgress): Promise<void>;
  saveReading(incidentId: string, run: number, facts: LayerFacts, reading: LayerReading): Promise<void>;
  /** Facts of this and all former runs, oldest run first. */
  facts(incidentId: string): Promise<LayerFacts[]>;
  saveVerdict(
    incidentId: string,
    run: number,
    verdict: Verdict,
    routing: Routing,
    escalation: Escalation | null,
    at: string,
  ): Promise<void>;
  /** Compare-and-set: false when somebody else acknowledged first. */
  acknowledge(incidentId: string, actor: string, at: string): Promise<boolean>;
  /** Starts the next run; false when one is already under way. */
  requestRun(incidentId: string, actor: string, at: string): Promise<boolean>;
  /** Newest heartbeat per cluster, ISO 8601. */
  heartbeats(): Promise<Record<string, string>>;
  audit(entry: AuditEntry): Promise<void>;
  auditTrail(incidentId: string): Promise<AuditEntry[]>;
}

/** The transactional outbox: messages are planned with the change they show, and sent by a sender. */
export interface Outbox {
  /** Inserts or updates one row per (incident, slot); unchanged content keeps its revision. */
  plan(incidentId: string, channel: string, messages: ThreadMessage[]): Promise<void>;
  /** Takes the next rows to send, roots before replies, at most one per incident at a time. */
  claim(limit: number, now: string): Promise<OutboxRow[]>;
  settle(row: OutboxRow, result: SendResult, now: string): Promise<void>;
  thread(incidentId: string): Promise<OutboxRow[]>;
}

/** Delivers outbox rows to Slack, or to the console while Slack is unset. */
export interface Sender {
  /** Posts the row, or edits its message when `ts` is known. Never throws: what went wrong is in the outcome. */
  send(row: OutboxRow): Promise<SendResult>;
  /**
   * The message an uncertain send left behind, with the revision it shows; null when it never arrived.
   * Throws when it could not be read back: the send is then as uncertain as before.
   */
  find(row: OutboxRow): Promise<{ channel: string; ts: string; revision: number } | null>;
}
