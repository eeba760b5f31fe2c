import type { Act, Refusal } from '../domain/act.ts';
import type { Subject } from '../domain/alert.ts';
import type { HandOffRequest } from '../incidents/hand-off-request.ts';
import type { IncidentStore } from '../incidents/ports.ts';
import type { SilenceRequest } from '../incidents/silencing.ts';
import type { Words } from './words.ts';

/** Who says a command, and where. */
export interface Speaker {
  /** Slack user id, or an operator's name. */
  actor: string;
  /** The incident whose thread or channel it is said in; null: none is implied. */
  incidentId: string | null;
  /** Forms can be opened there: Slack, by a slash command. */
  hasForms: boolean;
}

export interface CommandRequest extends Words, Speaker {}

/** What the person is told, and alone. Lines hold text from outside: whoever shows them makes them harmless. */
export interface Answer {
  lines: string[];
  /** A form to open instead. */
  form?: { name: string; incidentId: string };
}

/** What commands work with. */
export interface CommandDeps {
  incidents: {
    act(incidentId: string, act: Act, actor: string): Promise<Refusal | null>;
    handOff(incidentId: string, request: HandOffRequest, actor: string): Promise<Refusal | null>;
    silence(incidentId: string, request: SilenceRequest, actor: string): Promise<Refusal | null>;
    unsilence(incidentId: string, actor: string): Promise<Refusal | null>;
    rerun(incidentId: string, actor: string): Promise<boolean>;
    /** Opens an incident about an object, or reads it again where one is open; answers its id. */
    triage(subject: Subject, actor: string): Promise<string>;
  };
  store: Pick<IncidentStore, 'search' | 'record' | 'withPrefix' | 'judgedSince'>;
  /** ISO 8601. */
  now(): string;
  say(key: string, values?: Record<string, string | number>): string;
  /** The configured cluster of this name or alias, the default one for no name; null: there is none. */
  clusterNamed(name: string | undefined): string | null;
  /** Who owns a workload and by which facts, as lines; null: it was not found. */
  explainOwner(cluster: string, workload: string): Promise<string[] | null>;
}

/** One file of handlers/commands. What it does is the message `command.‹name›`. */
export interface CommandHandler {
  name: string;
  /** After its name: `[incident] <text>`. */
  usage: string;
  /** Names of its options. */
  options: string[];
  run(request: CommandRequest, deps: CommandDeps): Promise<Answer>;
}

/** A command that cannot be carried out as it was typed: the lines say why. */
export class Misspoken extends Error {
  override readonly name = 'Misspoken';
}

export const answer = (...lines: string[]): Answer => ({ lines });

/** The shown form of an incident's id: enough to name it. */
export const shortId = (id: string): string => id.slice(0, 8);
