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
    // The last change of a version wins, as it does where patches are applied. The others stay at the server: a
    // seed's are as many as there are rows.
    const found = await db.execute<{
      version: string | number;
      at_ms: string;
      change: ConfigPatch['changes'][number];
    }>(sql`
      select version, floor(extract(epoch from at) * 1000)::bigint::text as at_ms, change from config_log cross join lateral (
        select change from jsonb_array_elements(changes) with ordinality as each(change, place)
        where change ->> 'table' = ${table} and change ->> 'id' = ${id} order by place desc limit 1) last
      where changes @> ${JSON.stringify([{ table, id }])}::jsonb ${only} order by config_log.version`);
    return found.rows.map(({ version: of, at_ms, change }) => ({
      version: Number(of),
      atMs: Number(at_ms),
      value: change.value,
    }));
  }
  return { of: (table, id) => find(table, id), at: async (table, id, version) => (await find(table, id, version))[0] };
}
