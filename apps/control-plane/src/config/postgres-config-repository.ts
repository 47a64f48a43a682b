import { sql } from 'drizzle-orm';
import { ConfigPatch, CONFIG_TABLES, type ConfigTable, type Workspace } from '@sluice/contracts';
import type { Db, Executor } from '../db/open-database.ts';
import { sqlState } from '../db/sql-state.ts';
import {
  SlugRetiredError,
  TenantRetiredError,
  VersionTakenError,
  type AuditInput,
  type ConfigRepository,
  type StoredRow,
} from './config-repository.ts';

const UNIQUE_VIOLATION = '23505';

/** The configuration in `config_rows` and `config_log`; audit records go into the same transaction. */
export function createPostgresConfigRepository(deps: {
  db: Db;
  recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
}): ConfigRepository {
  const { db, recordAudit } = deps;
  return {
    load: async () => {
      // One statement, so that version and rows are of one moment.
      const found = await db.execute<{
        version: string | number;
        table_name: string | null;
        id: string;
        value: unknown;
        row_version: number;
      }>(sql`
        select (select coalesce(max(version), 0) from config_log) as version, r.table_name, r.id, r.value, r.version as row_version
        from (select 1) as one left join config_rows r on true`);
      const rows: StoredRow[] = [];
      for (const row of found.rows) {
        if (row.table_name !== null && isConfigTable(row.table_name)) {
          rows.push({ table: row.table_name, id: row.id, value: row.value, version: Number(row.row_version) });
        }
      }
      return { version: Number(found.rows[0]?.version ?? 0), rows };
    },
    patchesAfter: async (version) => {
      const found = await db.execute<{ version: string | number; changes: unknown }>(
        sql`select version, changes from config_log where version > ${version} order by version`,
      );
      const patches = found.rows.map((row) =>
        ConfigPatch.parse({ version: Number(row.version), changes: row.changes }),
      );
      return patches.every((patch, i) => patch.version === version + 1 + i) ? patches : undefined;
    },
    commit: async (patch, audit) => {
      try {
        await db.transaction(async (tx) => {
          await tx.execute(
            sql`insert into config_log (version, changes, at) values (${patch.version}, ${JSON.stringify(patch.changes)}::jsonb, now())`,
          );
          await retireSlugs(tx, patch);
          await retireTenants(tx, patch);
          for (const { table, id, value } of patch.changes) {
            if (value === undefined)
              await tx.execute(sql`delete from config_rows where table_name = ${table} and id = ${id}`);
            else {
              await tx.execute(sql`
                insert into config_rows (table_name, id, value, version) values (${table}, ${id}, ${JSON.stringify(value)}::jsonb, ${patch.version})
                on conflict (table_name, id) do update set value = excluded.value, version = excluded.version`);
            }
          }
          for (const input of audit) await recordAudit(tx, input);
        });
      } catch (error) {
        if (sqlState(error) === UNIQUE_VIOLATION) throw new VersionTakenError(`version ${patch.version} is taken`);
        throw error;
      }
    },
  };
}

async function retireSlugs(tx: Executor, patch: ConfigPatch): Promise<void> {
  for (const { table, id, value } of patch.changes) {
    if (table !== 'workspaces') continue;
    if (value === undefined) {
      await tx.execute(sql`
        insert into retired_slugs (slug, tenant, at) select id, value ->> 'tenant', now() from config_rows where table_name = 'workspaces' and id = ${id}
        on conflict (slug) do update set tenant = excluded.tenant, at = excluded.at`);
    } else {
      const taken = await tx.execute(
        sql`select 1 from retired_slugs where slug = ${id} and tenant <> ${(value as Workspace).tenant}`,
      );
      if (taken.rows.length > 0) throw new SlugRetiredError(id);
    }
  }
}

async function retireTenants(tx: Executor, patch: ConfigPatch): Promise<void> {
  for (const { table, id, value } of patch.changes) {
    if (table !== 'tenants') continue;
    if (value === undefined)
      await tx.execute(sql`insert into retired_tenants (id, at) values (${id}, now()) on conflict (id) do nothing`);
    else {
      const taken = await tx.execute(sql`
        select 1 from retired_tenants where id = ${id} and not exists (select 1 from config_rows where table_name = 'tenants' and config_rows.id = ${id})`);
      if (taken.rows.length > 0) throw new TenantRetiredError(id);
    }
  }
}

function isConfigTable(name: string): name is ConfigTable {
  return (CONFIG_TABLES as readonly string[]).includes(name);
}
