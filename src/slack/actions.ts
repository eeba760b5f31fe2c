import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Act, Refusal } from '../domain/act.ts';

/** The use cases behind the buttons. A refusal, or false: somebody else was first, or the incident's state does not allow it. */
export interface IncidentActions {
  act(incidentId: string, act: Act, actor: string): Promise<Refusal | null>;
  rerun(incidentId: string, actor: string): Promise<boolean>;
}

/** A click on one of our buttons. What the card showed may be old: use cases compare and set. */
interface Click {
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

/** All handlers of a folder. Throws on a file whose default export has another action_id than its name. */
export const loadActions = async (folder: string): Promise<ActionHandler[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const { default: handler } = (await import(pathToFileURL(path).href)) as { default?: ActionHandler };
      if (handler?.action_id !== basename(file, '.ts'))
        throw new Error(`${path} must export a default handler with action_id '${basename(file, '.ts')}'`);
      return handler;
    }),
  );
};

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
