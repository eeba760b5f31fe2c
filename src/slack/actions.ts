import { loadHandlers } from '../commands/load-handlers.ts';
import type { Act, Refusal } from '../domain/act.ts';
import type { HandOffRequest } from '../incidents/hand-off-request.ts';
import type { SilenceRequest } from '../incidents/silencing.ts';

/**
 * The use cases behind buttons and forms. A refusal, or false: somebody else was first, or the incident's state does
 * not allow it.
 */
export interface IncidentActions {
  act(incidentId: string, act: Act, actor: string): Promise<Refusal | null>;
  handOff(incidentId: string, request: HandOffRequest, actor: string): Promise<Refusal | null>;
  silence(incidentId: string, request: SilenceRequest, actor: string): Promise<Refusal | null>;
  unsilence(incidentId: string, actor: string): Promise<Refusal | null>;
  rerun(incidentId: string, actor: string): Promise<boolean>;
}

/** A click on one of our buttons. What the card showed may be old: use cases compare and set. */
export interface Click {
  incidentId: string;
  /** Slack user id. */
  actor: string;
}

/** One file of handlers/actions: the button's action_id, and the one use case it calls. */
export interface ActionHandler {
  action_id: string;
  /** The key of the message to show to the person alone, or null when the card says it all. */
  handle(incidents: IncidentActions, click: Click): Promise<string | null>;
}

export const loadActions = (folder: string): Promise<ActionHandler[]> =>
  loadHandlers<ActionHandler>(folder, 'action_id');

/** The key of the message that says why nothing was changed; null where it was. */
export const refusalKey = (refusal: Refusal | null): string | null => refusal && `refusal.${refusal}`;

/** Button values as the card writes them: incident id, space, the state the person had before them. */
export const incidentOf = (value: unknown): string | null =>
  typeof value === 'string' ? (/^(\S{1,200}) \S{1,100}$/.exec(value)?.[1] ?? null) : null;

/** Slack delivers a payload again when our answer was lost; each trigger_id is acted on once per process. */
export class RecentTriggers {
  readonly #seenAtMs = new Map<string, number>();
  readonly #now: () => number;
  static readonly #keepMs = 60 * 60 * 1000;
  static readonly #keepAtMost = 10_000;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True the first time. */
  isNew(triggerId: string): boolean {
    const now = this.#now();
    for (const [id, at] of this.#seenAtMs) {
      if (now - at < RecentTriggers.#keepMs && this.#seenAtMs.size < RecentTriggers.#keepAtMost) break;
      this.#seenAtMs.delete(id);
    }
    if (this.#seenAtMs.has(triggerId)) return false;
    this.#seenAtMs.set(triggerId, now);
    return true;
  }
}
