import type { RequestListener } from 'node:http';
import type { Answer, Speaker } from '../commands/command.ts';
import type { Config } from '../config/schema.ts';
import type { Act, Refusal } from '../domain/act.ts';
import type { Reasoning } from '../domain/reasoning.ts';
import type { IncidentView } from '../domain/view.ts';
import type { IncidentOutcome, IncidentStore, IncomingNotification, Outbox } from '../incidents/ports.ts';
import type { Metrics } from './metrics.ts';

/** What the HTTP handlers work with: use cases and the few reads that pages show. Built by the composition root. */
export interface HandlerDeps {
  config: Config;
  /** ISO 8601. */
  now(): string;
  store: IncidentStore;
  outbox: Outbox;
  metrics: Metrics;
  /** Resolves when the notification is committed; throws `StorageUnavailable` when it is not. */
  receive(notification: IncomingNotification): Promise<IncidentOutcome[]>;
  /** Carries out a command as people type it. */
  command(text: string, speaker: Speaker): Promise<Answer>;
  /** Null: it is done. `actor` is a name people recognise. */
  act(incidentId: string, act: Act, actor: string): Promise<Refusal | null>;
  /** False when a run is already under way. */
  rerun(incidentId: string, actor: string): Promise<boolean>;
  /** Everything a page shows of an incident; null where there is none of that id. */
  view(incidentId: string): Promise<IncidentView | null>;
  /** How the incident's verdict came about; null while there is none. */
  reasoning(incidentId: string): Promise<Reasoning | null>;
  /** Slack's own requests where it reaches us over HTTP; it checks their signature itself. Null in Socket Mode. */
  slackEvents: RequestListener | null;
  /** The incident's folder of facts by path; null while nothing was read. */
  incidentCase(incidentId: string): Promise<Map<string, string> | null>;
  /** Calls back with the id of every incident that changes, until the answered function is called. */
  onChange(listener: (incidentId: string) => void): () => void;
  /** Each resolves when the neighbour answers and rejects with the reason when it does not. */
  checks: { database(): Promise<void>; queue(): Promise<void> };
  /** Messages planned and not yet sent. */
  outboxDepth(): Promise<number>;
  /** Jobs that used up their attempts. */
  deadJobs(): Promise<number>;
}
