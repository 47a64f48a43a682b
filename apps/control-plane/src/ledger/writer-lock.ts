import { sql } from 'drizzle-orm';
import type { Db } from '../db/open-database.ts';

/** Any number does, as long as no other lock of this database uses it. */
const WRITER_LOCK = 7_110_002;

export type Transaction = Parameters<Parameters<Db['transaction']>[0]>[0];

/**
 * A transaction of the ledger's one writer. Writers of every process take turns: it rules out deadlocks between
 * batches, two of them cannot add the same event, and a rebuild sees no half batch.
 */
export function asWriter<T>(db: Db, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${WRITER_LOCK})`);
    return work(tx);
  });
}
