import { isConflict, translate } from './availability.ts';
import type { Db } from './tables.ts';

const maxAttempts = 5;

/** Runs `work` in the transaction `db` is in, or in one of its own, again if it lost against another. */
export async function atomic<T>(db: Db, work: (transaction: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw translate(error);
    }
  }
}
