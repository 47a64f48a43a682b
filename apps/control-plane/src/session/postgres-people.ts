import { randomUUID } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { SeedFile } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import { hashPassword } from './password.ts';
import type { PersonRepository, StoredPerson } from './people.ts';

/** People in the table `users`. */
export function createPostgresPeople({ db }: { db: Executor }): PersonRepository {
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
  };
}

/** Adds the people of a seed who are not there yet, passwords hashed. */
export async function seedPeople(db: Executor, users: SeedFile['users']): Promise<void> {
  for (const user of users) {
    const hash = await hashPassword(user.password);
    await db.execute(sql`
      insert into users (id, email, password_hash, roles, version)
      values (${randomUUID()}, ${user.email.toLowerCase()}, ${hash}, ${JSON.stringify(user.roles)}::jsonb, 1)
      on conflict do nothing`);
  }
}
