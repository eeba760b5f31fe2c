import { sql } from 'kysely';
import type { RecordsChange } from '../incidents/ports.ts';
import type { SqlClient } from './sql-pool.ts';
import type { Db } from './tables.ts';

const channel = 'faultline_changes';

/** Tells every listening process, once the transaction commits. */
export async function announce(db: Db, topic: RecordsChange['topic'], incidentIds: string[]): Promise<void> {
  if (incidentIds.length === 0) return;
  const messages = incidentIds.map((id) => `${topic} ${id}`);
  await sql`select pg_notify(${channel}, message) from unnest(${messages}::text[]) as message`.execute(db);
}

const reconnectAfterMs = 1_000;

/** Listens on a connection of its own and opens a new one when it is lost; what was announced meanwhile is missed. */
export async function listenForChanges(
  connect: () => Promise<SqlClient>,
  onChange: (change: RecordsChange) => void,
): Promise<() => Promise<void>> {
  let client: SqlClient | null = null;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  const drop = () => {
    client?.removeAllListeners();
    // The pool's clients report a late error of a broken connection; nobody else listens by then.
    client?.on('error', () => {});
    client?.release(true);
    client = null;
  };
  const lost = () => {
    drop();
    if (!stopped) retry = setTimeout(() => void start().catch(lost), reconnectAfterMs);
  };
  const start = async () => {
    client = await connect();
    client.on('notification', ({ payload = '' }) => {
      const [topic, incidentId] = payload.split(' ');
      if ((topic === 'run' || topic === 'outbox') && incidentId) onChange({ topic, incidentId });
    });
    client.on('error', lost);
    client.on('end', lost);
    await client.query(`LISTEN ${channel}`);
    if (stopped) drop();
  };

  await start();
  return async () => {
    stopped = true;
    clearTimeout(retry);
    drop();
  };
}
