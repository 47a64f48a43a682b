import { randomUUID } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { Clock, SeedFile } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import { FAILURES_ALLOWED, FIRST_LOCK_MS, LONGEST_LOCK_MS } from './lock-out.ts';
import { hashPassword } from './password.ts';
import type { PersonRepository, StoredPerson } from './people.ts';

/** People in the table `users`. */
export function createPostgresPeople(deps: { db: Executor; clock: Clock }): PersonRepository {
  const { db, clock } = deps;
  async function find(where: SQL): Promise<StoredPerson | undefined> {
    const found = await db.execute<{ id: string; email: string; password_hash: string; roles: Record<string, string> }>(
      sql`select id, email, password_hash, roles from users where ${where}`,
    );
    const row = found.rows[0];
    return row === undefined
      ? undefined
      : { id: row.id, email: row.email, passwordHash: row.password_hash, roles: row.roles };
  }
  return {
    find: (email) => find(sql`lower(email) = ${email}`),
    byId: (id) => find(sql`id = ${id}`),
    beginAttempt: async (id) => {
      const now = new Date(clock.now()).toISOString();
      const begun = await db.execute(sql`
        update users set failed_attempts = failed_attempts + 1,
          locked_until = case when failed_attempts + 1 >= ${FAILURES_ALLOWED}::integer then ${now}::timestamptz + make_interval(
            secs => least(${LONGEST_LOCK_MS / 1000}::float8, ${FIRST_LOCK_MS / 1000}::float8 * power(2, least(20, failed_attempts + 1 - ${FAILURES_ALLOWED}::integer)))) end
        where id = ${id} and (locked_until is null or locked_until <= ${now}::timestamptz) returning id`);
      if (begun.rows.length > 0) return 0;
      const locked = await db.execute<{ locked_until: string | Date | null }>(
        sql`select locked_until from users where id = ${id}`,
      );
      return Math.max(1, new Date(locked.rows[0]?.locked_until ?? 0).getTime() - clock.now());
    },
    succeeded: async (id) => {
      await db.execute(sql`update users set failed_attempts = 0, locked_until = null where id = ${id}`);
    },
  };
}

/** Adds the people of a seed who are not there yet, passwords hashed. */
export async function seedPeople(db: Executor, users: SeedFile['users']): Promise<void> {
  for (const user of users) {
    const hash = await hashPassword(user.password);
    await db.execute(sql`
      insert into users (id, email, password_hash, roles, failed_attempts, version)
      values (${randomUUID()}, ${user.email.toLowerCase()}, ${hash}, ${JSON.stringify(user.roles)}::jsonb, 0, 1)
      on conflict do nothing`);
  }
}
