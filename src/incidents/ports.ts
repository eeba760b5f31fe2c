import type { Act, Refusal } from '../domain/act.ts';
import type { Alert, Subject } from '../domain/alert.ts';
import type { AuditEntry } from '../domain/audit.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { LayerFacts } from '../domain/facts.ts';

import type { Incident, IncidentStatus, LayerProgress, Severity, StoredAlert } from '../domain/incident.ts';
import type { Confidence, Layer, Owner } from '../domain/layer.ts';
import type { OutboxRow, SendResult, ThreadMessage } from '../domain/message.ts';
import type { Silence } from '../domain/silence.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Escalation, HandOff, IncidentRecord, IncidentView, LayerReading, Mode, Routing } from '../domain/view.ts';
import type { Judged } from './accuracy.ts';

/**
 * The database cannot be reached or refuses work for now (connection lost, shutting down, too many connections, disk
 * full). Nothing was stored. Callers answer 503 or try again later; it is the only error the ports below throw on purpose.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

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

/** A run whose verdict is still to come: what the relay turns into jobs, again if they were lost. */
export interface DueRun {
  incidentId: string;
  run: number;
}

/** What a list of incidents is narrowed to. */
export interface IncidentFilter {
  status?: IncidentStatus;
  cluster?: string;
  /** Of the verdict, or of the hand-off since. */
  owner?: Owner;
  /** Name of the party that acts, without regard to case. */
  party?: string;
  /** Who acknowledged it, or is assigned to it. */
  person?: string;
}

/** An incident with the little that a list shows of its verdict; nulls while there is none. */
export interface IncidentSummary {
  incident: Incident;
  owner: Owner | null;
  party: string | null;
  /** Null for what a person handed over. */
  confidence: Confidence | null;
}

/** The records behind all use cases. Every method is one transaction; it throws `StorageUnavailable` when the database is away. */
export interface IncidentStore {
  /** Idempotent: the same notification twice changes nothing. Commits before it resolves. */
  recordNotification(notification: IncomingNotification): Promise<IncidentOutcome[]>;
  record(incidentId: string): Promise<IncidentRecord | null>;
  list(limit: number): Promise<Incident[]>;
  /** Newest first, with whose they are. */
  search(filter: IncidentFilter, limit: number): Promise<IncidentSummary[]>;
  /** Incidents opened since then whose newest verdict names who has to act: for figures. */
  judgedSince(since: string): Promise<Judged[]>;
  /** Ids that begin so, at most two: enough to tell whether one is meant. */
  withPrefix(prefix: string): Promise<string[]>;
  /** The incident whose thread this message begins; null: none. */
  atMessage(channel: string, ts: string): Promise<string | null>;
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
  /** Compare-and-set; null: it is done. */
  perform(incidentId: string, act: Act, actor: string, at: string): Promise<Refusal | null>;
  /** Keeps a silence that Alertmanager has taken, in place of the one it extends. */
  saveSilence(incidentId: string, silence: Silence, replaces: string | null, at: string): Promise<void>;
  /** Notes that these were ended. */
  endSilences(incidentId: string, ids: string[], actor: string, at: string): Promise<void>;
  /** Starts the next run; false when one is already under way. */
  requestRun(incidentId: string, actor: string, at: string): Promise<boolean>;
  /** Ends a run that will get no verdict: layers still unread become `failed`, and a re-run is possible again. */
  failRun(incidentId: string, run: number, reason: string, at: string): Promise<void>;
  /** Starts a run of each open incident whose `expected` verdict has passed its deadline; answers how many. */
  startRechecks(now: string): Promise<number>;
  /** Newest heartbeat per cluster, ISO 8601. */
  heartbeats(): Promise<Record<string, string>>;
  audit(entry: AuditEntry): Promise<void>;
  auditTrail(incidentId: string): Promise<AuditEntry[]>;
  /** Deletes incidents resolved before `before` with all that belongs to them; answers how many. */
  prune(before: string): Promise<number>;
}

/** The transactional outbox: messages are planned with the change they show, and sent by a sender. */
export interface Outbox {
  /**
   * Inserts or updates one row per (incident, slot); unchanged content keeps its revision. Replies that are no longer
   * among the messages and were never tried are dropped.
   */
  plan(incidentId: string, channel: string, messages: ThreadMessage[]): Promise<void>;
  /** Takes the next rows to send, roots before replies, at most one per incident at a time. */
  claim(limit: number, now: string): Promise<OutboxRow[]>;
  settle(row: OutboxRow, result: SendResult, now: string): Promise<void>;
  thread(incidentId: string): Promise<OutboxRow[]>;
  /** Messages planned and not yet sent. */
  depth(): Promise<number>;
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

/** The stores as they look from inside one transaction. */
export interface Stores {
  store: IncidentStore;
  outbox: Outbox;
}

/** What has changed, told to every server process after the commit. A hint: it may be lost, so listeners also poll. */
export interface RecordsChange {
  topic: 'run' | 'outbox';
  incidentId: string;
}

/** All records. Outside `transaction` each method of the stores is a transaction of its own. */
export interface Records extends Stores {
  /** All or nothing; a state change and the messages that show it go into one. Do no I/O inside but the stores'. */
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Calls back on every change until the answered function is called. */
  listen(onChange: (change: RecordsChange) => void): Promise<() => Promise<void>>;
}

/** The triage engine, routing, escalation and rendering, as the use cases call them. */
export interface TriageSteps {
  /** All I/O of a triage; bounded in calls, bytes and time, and never throws for a source that is down. */
  collectLayer(incident: Incident, alerts: StoredAlert[], layer: Layer): Promise<LayerFacts>;
  /** What the layer's own rules see in the layer's own facts: the first look while the other layers still read. */
  observe(record: IncidentRecord, facts: LayerFacts): Evidence[];
  /** Pure: the same record and facts give the same verdict. `facts` are those of all runs, oldest first. */
  judge(record: IncidentRecord, facts: LayerFacts[]): Verdict;
  route(record: IncidentRecord, facts: LayerFacts[], verdict: Verdict): Routing | Promise<Routing>;
  escalate(
    record: IncidentRecord,
    facts: LayerFacts[],
    verdict: Verdict,
    routing: Routing,
  ): Escalation | null | Promise<Escalation | null>;
  /** Where a hand-off leads: a layer, or a team of the owner directory by id, name or alias; null: there is no such team. */
  handOff(
    record: IncidentRecord,
    facts: LayerFacts[],
    verdict: Verdict,
    to: string,
  ): Pick<HandOff, 'to' | 'routing' | 'escalation'> | null;
  /** How loud and where, by configuration of the incident's cluster. */
  presentation(incident: Incident): { mode: Mode; channel: string; pageUrl: string | null };
  /** Pure. The root's slot is `root`; replies follow in the order in which they are to be posted. */
  renderThread(view: IncidentView): ThreadMessage[];
  /** Pure. What a posted reply becomes when a later run has nothing to say in its place. */
  renderWithdrawn(view: IncidentView, slot: string): ThreadMessage;
  redact<T>(value: T): Promise<T>;
}

/** Where jobs for due runs go. */
export interface TriageQueue {
  /**
   * Idempotent. `present`: the run's jobs exist and will end in a verdict; `dead`: its verdict job failed for good.
   */
  addTriage(incidentId: string, run: number): Promise<'added' | 'present' | { dead: string }>;
}
