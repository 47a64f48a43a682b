import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { OperatorRole } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import type { SessionArchive } from './operator-sessions.ts';

const StoredOperator = z.object({ user: z.string(), role: OperatorRole });

/** Operators' sessions in the table `sessions`. */
export function createPostgresSessionArchive(deps: { db: Executor }): SessionArchive {
  const { db } = deps;
  return {
    save: async (digest, session) => {
      await db.execute(sql`delete from sessions where expires_at < now()`);
      await db.execute(sql`
        insert into sessions (token_digest, principal, kind, expires_at, created_at)
        values (${digest}, ${JSON.stringify(session.operator)}::jsonb, 'operator', ${new Date(session.expiresAtMs).toISOString()}::timestamptz, now())`);
    },
    find: async (digest) => {
      const found = await db.execute<{ principal: unknown; expires_at: string | Date }>(
        sql`select principal, expires_at from sessions where token_digest = ${digest} and kind = 'operator'`,
      );
      const row = found.rows[0];
      const operator = StoredOperator.safeParse(row?.principal);
      return row === undefined || !operator.success
        ? undefined
        : { operator: operator.data, expiresAtMs: new Date(row.expires_at).getTime() };
    },
    remove: async (digest) => {
      await db.execute(sql`delete from sessions where token_digest = ${digest}`);
    },
    removeOf: async (user) => {
      await db.execute(sql`delete from sessions where kind = 'operator' and principal ->> 'user' = ${user}`);
    },
  };
}
