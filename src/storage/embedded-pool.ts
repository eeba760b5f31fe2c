import { EventEmitter } from 'node:events';
import { PGlite, type Results } from '@electric-sql/pglite';

/**
 * PGlite behind the shape of a `pg` Pool. PGlite is one session, so statements take turns, a client keeps the turn from
 * BEGIN to COMMIT or ROLLBACK, and LISTEN goes through `db.listen`, the only way in which PGlite delivers a NOTIFY.
 */
export class EmbeddedPool extends EventEmitter {
  readonly options = {};
  readonly #db: PGlite;
  #lastTurn: Promise<void> = Promise.resolve();
  #ended: Promise<void> | undefined;

  private constructor(db: PGlite) {
    super();
    // Each of the queue's connections adds a listener.
    this.setMaxListeners(0);
    this.#db = db;
  }

  /** `folder` undefined: in memory. The first start of a folder takes some seconds. */
  static async open(folder: string | undefined): Promise<EmbeddedPool> {
    return new EmbeddedPool(await PGlite.create(folder));
  }

  async connect(): Promise<EmbeddedClient> {
    if (this.#ended) throw new Error('Cannot use a pool after calling end on the pool');
    return new EmbeddedClient(this.#db, () => this.#turn());
  }

  async query<R = any>(text: string, params?: readonly unknown[]): Promise<Results & { rows: R[] }> {
    const client = await this.connect();
    try {
      return await client.query<R>(text, params);
    } finally {
      client.release();
    }
  }

  /** Waits for the statements under way. */
  end(): Promise<void> {
    this.#ended ??= this.#turn().then(async (pass) => {
      await this.#db.close();
      pass();
    });
    return this.#ended;
  }

  async #turn(): Promise<() => void> {
    const before = this.#lastTurn;
    const mine = Promise.withResolvers<void>();
    this.#lastTurn = mine.promise;
    await before;
    return mine.resolve;
  }
}

/** A session as a pool's client sees it; clients are cheap and not reused. */
class EmbeddedClient extends EventEmitter {
  readonly #db: PGlite;
  readonly #takeTurn: () => Promise<() => void>;
  readonly #unlisten = new Map<string, () => Promise<void>>();
  /** Set while this client is inside a transaction. */
  #passTurn: (() => void) | null = null;
  #lastQuery: Promise<unknown> = Promise.resolve();

  constructor(db: PGlite, takeTurn: () => Promise<() => void>) {
    super();
    this.setMaxListeners(0);
    this.#db = db;
    this.#takeTurn = takeTurn;
  }

  /** As in `pg`, one client's queries run in the order in which they were asked for. */
  query<R = any>(text: string, params?: readonly unknown[]): Promise<Results & { rows: R[] }> {
    const answer = this.#lastQuery.then(() => this.#inTurn(text, params));
    this.#lastQuery = answer.catch(() => {});
    return answer as Promise<Results & { rows: R[] }>;
  }

  async #inTurn(text: string, params?: readonly unknown[]): Promise<Results> {
    const { verb, rest } = firstWord(text);
    const inTransaction = this.#passTurn;
    const pass = inTransaction ?? (await this.#takeTurn());
    let keep = inTransaction !== null;
    try {
      const result = await this.#run(verb, rest, text, params);
      if (verb === 'BEGIN' || verb === 'START') keep = true;
      else if (endsTransaction(verb, rest)) keep = false;
      return result;
    } finally {
      this.#passTurn = keep ? pass : null;
      if (!keep) pass();
    }
  }

  async #run(verb: string, rest: string, text: string, params: readonly unknown[] = []): Promise<Results> {
    if (verb === 'LISTEN') return this.#listen(channelOf(rest));
    if (verb === 'UNLISTEN') return this.#forget(rest.startsWith('*') ? [...this.#unlisten.keys()] : [channelOf(rest)]);
    if (params.length > 0) return this.#db.query(text, [...params]);
    // Only the simple protocol takes several statements in one text.
    return (await this.#db.exec(text)).at(-1) ?? nothing;
  }

  async #listen(channel: string): Promise<Results> {
    if (!this.#unlisten.has(channel)) {
      const stop = await this.#db.listen(channel, (payload) => this.emit('notification', { channel, payload }));
      this.#unlisten.set(channel, stop);
    }
    return nothing;
  }

  async #forget(channels: string[]): Promise<Results> {
    for (const channel of channels) {
      await this.#unlisten.get(channel)?.();
      this.#unlisten.delete(channel);
    }
    return nothing;
  }

  /** Ends what the session holds: a transaction left open is rolled back, subscriptions are given up. */
  release(_destroy?: boolean): void {
    if (this.#passTurn) void this.query('ROLLBACK').catch(() => {});
    if (this.#unlisten.size > 0) void this.query('UNLISTEN *').catch(() => {});
  }
}

export type { EmbeddedClient };

const nothing: Results = { rows: [], fields: [], rowCount: 0 };

/** The statement's verb, past the comments that BullMQ's command texts begin with. */
const firstWord = (text: string): { verb: string; rest: string } => {
  const found = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*([a-z]+)\s*([\s\S]*)$/i.exec(text);
  return { verb: found?.[1]?.toUpperCase() ?? '', rest: found?.[2] ?? '' };
};

const endsTransaction = (verb: string, rest: string): boolean =>
  verb === 'COMMIT' ||
  verb === 'END' ||
  verb === 'ABORT' ||
  (verb === 'ROLLBACK' && !/^(?:work\s+|transaction\s+)?to\b/i.test(rest));

const channelOf = (rest: string): string => /^"?([\w$]+)"?/.exec(rest)?.[1] ?? '';
