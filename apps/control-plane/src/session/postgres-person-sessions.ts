import { sql } from 'drizzle-orm';
import { PersonSession, type Clock } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';
import { MAX_SESSIONS_OF_ONE, type PersonSessions } from './person-sessions.ts';

interface Row extends Record<string, unknown> {
  readonly token_digest: string;
  readonly principal: unknown;
}

/** People's sessions in the table `sessions`, beside those of operators. */
export function createPostgresPersonSessions({
  db,
  clock,
}: {
  db: Executor;
  clock: Pick<Clock, 'now'>;
}): PersonSessions {
  const nowText = (): string => new Date(clock.now()).toISOString();
  return {
    async open({ token_digest, session }) {
      await db.execute(sql`delete from sessions where expires_at < ${nowText()}::timestamptz`);
      await db.execute(sql`
        insert into sessions (token_digest, principal, kind, expires_at, created_at)
        values (${token_digest}, ${JSON.stringify(session)}::jsonb, 'person', ${session.expires_at}::timestamptz, ${session.created_at}::timestamptz)`);
      await db.execute(sql`
        delete from sessions where token_digest in (
          select token_digest from sessions where kind = 'person' and principal ->> 'user_id' = ${session.user_id}
          order by created_at desc, token_digest offset ${MAX_SESSIONS_OF_ONE})`);
    },
    async seen(tokenDigest) {
      const found = await db.execute<Row>(sql`
        update sessions set principal = jsonb_set(principal, '{last_used_at}', to_jsonb(${nowText()}::text))
        where token_digest = ${tokenDigest} and kind = 'person' and expires_at > ${nowText()}::timestamptz
        returning token_digest, principal`);
      return found.rows[0] === undefined ? undefined : PersonSession.parse(found.rows[0].principal);
    },
    async of(userId) {
      const found = await db.execute<Row>(sql`
        select token_digest, principal from sessions
        where kind = 'person' and principal ->> 'user_id' = ${userId} and expires_at > ${nowText()}::timestamptz
        order by created_at desc, token_digest`);
      return found.rows.map((row) => ({ token_digest: row.token_digest, session: PersonSession.parse(row.principal) }));
    },
    async end(userId, tokenDigests) {
      const ended = await db.execute(sql`
        delete from sessions where kind = 'person' and principal ->> 'user_id' = ${userId}
        and token_digest in (${sql.join(
          tokenDigests.map((digest) => sql`${digest}`),
          sql`, `,
        )})`);
      return ended.rowCount ?? 0;
    },
    async endOf(userId) {
      await db.execute(sql`delete from sessions where kind = 'person' and principal ->> 'user_id' = ${userId}`);
    },
  };
}
