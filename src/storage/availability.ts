import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { StorageUnavailable } from '../incidents/ports.ts';
import type { SqlClient, SqlPool } from './sql-pool.ts';

/**
 * SQLSTATE classes that mean "not now": connection exceptions (08), insufficient resources (53), operator intervention
 * such as a shutdown (57P), system errors (58); and a standby that has not been promoted yet (25006).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const unavailableState = /^(08|53|57P|58|25006)/;
const networkFailure = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
/** What the `pg` client and PGlite say without a code. */
const unavailableMessage =
  /connection terminated|connection error|timeout exceeded when trying to connect|after calling end|not queryable|is clos(ed|ing)/i;

/** The error as the ports promise it: `StorageUnavailable` where trying again later can help. */
export function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  // Node reports a host whose addresses all failed as an AggregateError with the code of the first.
  const away = unavailableState.test(code) || networkFailure.test(code) || unavailableMessage.test(error.message);
  if (!away) return error;
  return new StorageUnavailable(
    `The database cannot be used for now: ${error.message || code}. Check that it runs and that DATABASE_URL reaches it.`,
    { cause: error },
  );
}

/** The pool as Kysely sees it: every failure of every query passes `translate`, in this one place. */
export function translated(pool: SqlPool): PostgresPool {
  // Kysely knows a connection by the identity of its client.
  const clients = new WeakMap<SqlClient, PostgresPoolClient>();
  return {
    options: {},
    async connect() {
      const client = await pool.connect().catch(rethrow);
      const known = clients.get(client) ?? translatedClient(client);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

const translatedClient = (client: SqlClient): PostgresPoolClient =>
  ({
    query: (text: string, params: readonly unknown[]) => client.query(text, params).catch(rethrow),
    release: (destroy?: boolean) => client.release(destroy),
  }) as PostgresPoolClient;

const rethrow = (error: unknown): never => {
  throw translate(error);
};

/** Two transactions that met in the wrong order: the loser may simply start again. */
export const isConflict = (error: unknown): boolean =>
  error instanceof Error && ['40001', '40P01'].includes(String((error as NodeJS.ErrnoException).code));
