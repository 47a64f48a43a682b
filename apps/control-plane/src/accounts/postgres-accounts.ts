import { sql, type SQL } from 'drizzle-orm';
import { OperatorRole, Role } from '@sluice/contracts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Db, Executor } from '../db/open-database.ts';
import type { OperatorAccount, OperatorAccountStore, PersonAccount, PersonAccountStore } from './account-store.ts';

interface Deps {
  readonly db: Db;
  readonly recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
}

type OperatorRow = {
  name: string;
  role: string;
  enabled: boolean;
  version: number;
  created_at: string | Date;
  password_hash: string;
};
type PersonRow = { id: string; email: string; roles: Record<string, string>; version: number };

/**
 * Runs a statement that returns what it changed, and the audit record with it; the record only when something was
 * changed.
 */
async function changed({ db, recordAudit }: Deps, statement: SQL, audit: AuditInput): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const result = await tx.execute<{ version: number }>(statement);
    const version = result.rows[0]?.version;
    if (version === undefined) return undefined;
    await recordAudit(tx, audit);
    return Number(version);
  });
}

/** Operators in the table `operators`. */
export function createPostgresOperatorAccounts(deps: Deps): OperatorAccountStore {
  const { db } = deps;
  return {
    list: async ({ after, limit }) => {
      const found = await db.execute<OperatorRow>(
        sql`select * from operators where ${after === undefined ? sql`true` : sql`name > ${after}`} order by name limit ${limit}`,
      );
      return found.rows.map(viewOperator);
    },
    find: async (id) => {
      const [row] = (await db.execute<OperatorRow>(sql`select * from operators where name = ${id}`)).rows;
      return row === undefined ? undefined : { ...viewOperator(row), passwordHash: row.password_hash };
    },
    insert: async ({ id, role, passwordHash }, audit) =>
      (await changed(
        deps,
        sql`insert into operators (name, password_hash, role) values (${id}, ${passwordHash}, ${role}) on conflict do nothing returning version`,
        audit,
      )) !== undefined,
    update: ({ id, role, enabled, passwordHash }, ifVersion, audit) =>
      changed(
        deps,
        sql`update operators set role = ${role}, enabled = ${enabled}, password_hash = coalesce(${passwordHash ?? null}, password_hash), version = version + 1
          where name = ${id} and version = ${ifVersion} returning version`,
        audit,
      ),
    remove: async (id, ifVersion, audit) =>
      (await changed(
        deps,
        sql`delete from operators where name = ${id} and version = ${ifVersion} returning version`,
        audit,
      )) !== undefined,
  };
}

function viewOperator(row: OperatorRow): OperatorAccount {
  // A role that this version does not know may do the least.
  const role = OperatorRole.safeParse(row.role);
  return {
    id: row.name,
    role: role.success ? role.data : 'viewer',
    enabled: row.enabled && role.success,
    version: Number(row.version),
    createdAt: new Date(row.created_at).toISOString(),
  };
}

/** People in the table `users`, which sign-in reads too. */
export function createPostgresPersonAccounts(deps: Deps): PersonAccountStore {
  const { db } = deps;
  const one = async (where: SQL): Promise<PersonAccount | undefined> => {
    const [row] = (await db.execute<PersonRow>(sql`select id, email, roles, version from users where ${where}`)).rows;
    return row === undefined ? undefined : viewPerson(row);
  };
  return {
    list: async ({ after, limit, workspace, q }) => {
      const found = await db.execute<PersonRow>(sql`
        select id, email, roles, version from users
        where ${after === undefined ? sql`true` : sql`id collate "C" > ${after}`}
          and ${workspace === undefined ? sql`true` : sql`roles ? ${workspace}`}
          and ${q === undefined ? sql`true` : sql`position(${q.toLowerCase()} in lower(email)) > 0`}
        order by id collate "C" limit ${limit}`);
      return found.rows.map(viewPerson);
    },
    find: (id) => one(sql`id = ${id}`),
    findByEmail: (email) => one(sql`lower(email) = ${email.toLowerCase()}`),
    insert: async ({ id, email, roles, passwordHash }, audit) =>
      (await changed(
        deps,
        sql`insert into users (id, email, password_hash, roles, version)
          values (${id}, ${email.toLowerCase()}, ${passwordHash}, ${JSON.stringify(roles)}::jsonb, 1) on conflict do nothing returning version`,
        audit,
      )) !== undefined,
    update: ({ id, roles, passwordHash }, ifVersion, audit) =>
      changed(
        deps,
        sql`update users set roles = ${JSON.stringify(roles)}::jsonb, password_hash = coalesce(${passwordHash ?? null}, password_hash), version = version + 1
          where id = ${id} and version = ${ifVersion} returning version`,
        audit,
      ),
    remove: async (id, ifVersion, audit) =>
      (await changed(
        deps,
        sql`delete from users where id = ${id} and version = ${ifVersion} returning version`,
        audit,
      )) !== undefined,
  };
}

function viewPerson(row: PersonRow): PersonAccount {
  const roles: Record<string, Role> = {};
  for (const [slug, value] of Object.entries(row.roles)) {
    const role = Role.safeParse(value);
    if (role.success) roles[slug] = role.data;
  }
  return { id: row.id, email: row.email, roles, version: Number(row.version) };
}
