import { createHash, randomBytes } from 'node:crypto';
import type { Clock, OperatorRole } from '@sluice/contracts';

/** A signed-in operator. */
export interface Operator {
  readonly user: string;
  readonly role: OperatorRole;
}

export interface StoredSession {
  readonly operator: Operator;
  readonly expiresAtMs: number;
}

/** Where sessions outlive the process. Each may fail: the copy in memory then carries on alone. */
export interface SessionArchive {
  save(tokenDigest: string, session: StoredSession): Promise<void>;
  find(tokenDigest: string): Promise<StoredSession | undefined>;
  remove(tokenDigest: string): Promise<void>;
  removeOf(user: string): Promise<void>;
}

export const SESSION_TTL_MS = 12 * 3_600_000;

/** Operators' sessions by token; only digests are kept. Sessions that are open stay open without the database. */
export interface OperatorSessions {
  /** Opens one and returns its token: 256 random bits. */
  open(operator: Operator): Promise<string>;
  find(token: string): Promise<Operator | undefined>;
  end(token: string): Promise<void>;
  /**
   * Ends all sessions of an operator whose account has changed.
   * @throws when those of the archive could not be ended.
   */
  endOf(user: string): Promise<void>;
}

export function createOperatorSessions(deps: {
  clock: Clock;
  archive: SessionArchive;
  onArchiveError?: (error: unknown) => void;
}): OperatorSessions {
  const sessions = new Map<string, StoredSession>();
  /**
   * Grows with every end, before and after the archive hears of it: what was read of the archive meanwhile is read
   * again.
   */
  let ends = 0;

  async function archived<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      deps.onArchiveError?.(error);
      return undefined;
    }
  }

  function forget(over: (key: string, session: StoredSession) => boolean): void {
    ends += 1;
    for (const [key, session] of sessions) if (over(key, session)) sessions.delete(key);
  }

  async function readArchive(key: string): Promise<StoredSession | undefined> {
    for (;;) {
      const asked = ends;
      const session = await archived(() => deps.archive.find(key));
      if (asked === ends) return session;
    }
  }

  function sweep(): void {
    for (const [digest, session] of sessions) if (session.expiresAtMs <= deps.clock.now()) sessions.delete(digest);
  }

  return {
    open: async (operator) => {
      sweep();
      const token = randomBytes(32).toString('base64url');
      const session = { operator, expiresAtMs: deps.clock.now() + SESSION_TTL_MS };
      sessions.set(digest(token), session);
      await archived(() => deps.archive.save(digest(token), session));
      return token;
    },
    find: async (token) => {
      const key = digest(token);
      const session = sessions.get(key) ?? (await readArchive(key));
      if (session === undefined || session.expiresAtMs <= deps.clock.now()) {
        sessions.delete(key);
        return undefined;
      }
      sessions.set(key, session);
      return session.operator;
    },
    end: async (token) => {
      const mine = digest(token);
      forget((key) => key === mine);
      await archived(() => deps.archive.remove(mine));
      forget((key) => key === mine);
    },
    endOf: async (user) => {
      const theirs = (_key: string, { operator }: StoredSession): boolean => operator.user === user;
      forget(theirs);
      try {
        await deps.archive.removeOf(user);
      } finally {
        forget(theirs);
      }
    },
  };
}

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
