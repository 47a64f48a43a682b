import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { SeedFile } from '@sluice/contracts';
import type { Executor } from '../config/postgres-config-repository.ts';
import { hashPassword } from './password.ts';
import type { PersonRepository } from './people.ts';

/** People in the table `users`. */
export function createPostgresPeople(deps: { db: Executor }): PersonRepository {
  const { db } = deps;
  return {
    find: async (email) => {
      const found = await db.execute<{ id: string; email: string; password_hash: string; roles: Record<string, string>; failed_attempts: number; locked_until: string | Date | null }>(
        sql`select id, email, password_hash, roles, failed_attempts, locked_until from users where lower(email) = ${email}`,
      );
      const row = found.rows[0];
      if (row === undefined) return undefined;
      return {
        id: row.id,
        email: row.email,
        passwordHash: row.password_hash,
        roles: row.roles,
        failedAttempts: Number(row.failed_attempts),
        lockedUntilMs: row.locked_until === null ? undefined : new Date(row.locked_until).getTime(),
      };
    },
    recordAttempt: async (id, failedAttempts, lockedUntilMs) => {
      const until = lockedUntilMs === undefined ? null : new Date(lockedUntilMs).toISOString();
      await db.execute(sql`update users set failed_attempts = ${failedAttempts}, locked_until = ${until}::timestamptz where id = ${id}`);
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
