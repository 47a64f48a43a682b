import { sql } from 'drizzle-orm';
import type { ConfigPatch, ConfigTable } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';

/** A row as one configuration version wrote it. */
export interface RowAt {
  readonly version: number;
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** Undefined where it was deleted. */
  readonly value: unknown;
}

/** What rows of the configuration used to be; nothing of it is ever dropped. */
export interface ConfigHistory {
  /** Every version of a row, oldest first. */
  of(table: ConfigTable, id: string): Promise<RowAt[]>;
  /** The row as this version wrote it; undefined when that version did not. */
  at(table: ConfigTable, id: string, version: number): Promise<RowAt | undefined>;
}

export function createPostgresConfigHistory({ db }: { db: Executor }): ConfigHistory {
  async function find(table: ConfigTable, id: string, version?: number): Promise<RowAt[]> {
    const only = version === undefined ? sql`` : sql`and version = ${version}`;
    const found = await db.execute<{ version: string | number; at_ms: string; changes: ConfigPatch['changes'] }>(sql`
      select version, floor(extract(epoch from at) * 1000)::bigint::text as at_ms, changes from config_log
      where changes @> ${JSON.stringify([{ table, id }])}::jsonb ${only} order by config_log.version`);
    return found.rows.flatMap((row) => {
      // The last change of a version wins, as it does where patches are applied.
      const change = row.changes.findLast((one) => one.table === table && one.id === id);
      return change === undefined ? [] : [{ version: Number(row.version), atMs: Number(row.at_ms), value: change.value }];
    });
  }
  return { of: (table, id) => find(table, id), at: async (table, id, version) => (await find(table, id, version))[0] };
}
