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
  /** Ends all sessions of an operator whose account has changed. @throws when those of the archive could not be ended. */
  endOf(user: string): Promise<void>;
}

export function createOperatorSessions(deps: {
  clock: Clock;
  archive: SessionArchive;
  onArchiveError?: (error: unknown) => void;
}): OperatorSessions {
  const sessions = new Map<string, StoredSession>();

  async function archived<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      deps.onArchiveError?.(error);
      return undefined;
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
      const session = sessions.get(key) ?? (await archived(() => deps.archive.find(key)));
      if (session === undefined || session.expiresAtMs <= deps.clock.now()) {
        sessions.delete(key);
        return undefined;
      }
      sessions.set(key, session);
      return session.operator;
    },
    end: async (token) => {
      sessions.delete(digest(token));
      await archived(() => deps.archive.remove(digest(token)));
    },
    endOf: async (user) => {
      for (const [key, session] of sessions) if (session.operator.user === user) sessions.delete(key);
      await deps.archive.removeOf(user);
    },
  };
}

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
