import { createHash, randomBytes } from 'node:crypto';
import type { Clock, PersonSession, Principal } from '@sluice/contracts';
import type { ControlPlane } from './control-plane.ts';

/** A session and its person, with roles that are at most ten seconds old. */
export interface Session {
  readonly tokenDigest: string;
  readonly principal: Principal;
  readonly session: PersonSession;
}

/**
 * The console's sessions. The control plane keeps them, so that a restart ends none and every backend knows all;
 * this process remembers those that are used. Methods throw what the control plane's methods throw, where nothing
 * that is remembered can stand in.
 */
export interface Sessions {
  /** A new session; the token is told once and kept as a digest. */
  open(principal: Principal, from?: { address?: string | undefined; agent?: string | undefined }): Promise<string>;
  /**
   * The session that a token stands for, which counts as used; undefined once it ended. While the control plane
   * does not answer, a session that was used here goes on with the roles that are known: there is nothing to be
   * read without it.
   */
  find(token: string): Promise<Session | undefined>;
  /** Ends it here at once, and everywhere as soon as the control plane hears of it. */
  end(session: Session): Promise<void>;
  /** Of one person, newest first. */
  list(principal: Principal): Promise<readonly PersonSession[]>;
  /** Ends one of the person's own; false when they have no such session. */
  endById(principal: Principal, id: string): Promise<boolean>;
  /** Ends all of the person's but this one; how many. */
  endOthers(own: Session): Promise<number>;
  /** All of a person's have ended at the control plane: they end here at once as well. */
  forget(userId: string): void;
}

/** How long a session lasts, however busy it is. */
export const SESSION_TTL_MS = 8 * 3_600_000;
/** A role that was taken away, and a session that was ended at another backend, are gone so much later at most. */
export const CHECKED_EVERY_MS = 10_000;
const MAX_AGENT = 120;
const MAX_ADDRESS = 64;
const TOKEN = /^[\w-]{43}$/;

export interface SessionsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly controlPlane: Pick<ControlPlane, 'openSession' | 'seenSession' | 'sessionsOf' | 'endSessions'>;
  readonly ttlMs?: number;
  /** Sessions that are remembered here; of more, those opened or read first are asked for again. */
  readonly limit?: number;
}

interface Known extends Session {
  readonly checkedMs: number;
  readonly expiresMs: number;
}

export function createSessions({
  clock,
  controlPlane,
  ttlMs = SESSION_TTL_MS,
  limit = 10_000,
}: SessionsDeps): Sessions {
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<Session | undefined>>();
  /** Sessions that have ended here and perhaps not at the control plane, and whose they were. */
  const ending = new Map<string, Principal>();

  function remember(session: Session): Session {
    const { tokenDigest } = session;
    known.delete(tokenDigest);
    const [oldest] = known.size >= limit ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(tokenDigest, { ...session, checkedMs: clock.now(), expiresMs: Date.parse(session.session.expires_at) });
    return session;
  }

  async function ask(tokenDigest: string): Promise<Session | undefined> {
    const before = known.get(tokenDigest);
    try {
      const seen = await controlPlane.seenSession(tokenDigest);
      // What was ended while the question was on its way stays ended.
      if (seen === undefined || ending.has(tokenDigest) || (before !== undefined && !known.has(tokenDigest))) {
        known.delete(tokenDigest);
        return undefined;
      }
      void tellEnded();
      return remember({ tokenDigest, ...seen });
    } catch (error) {
      if (before === undefined) throw error;
      return known.has(tokenDigest) ? remember(before) : undefined;
    } finally {
      asking.delete(tokenDigest);
    }
  }

  /** Tells the control plane of ends that it has not heard of. */
  async function tellEnded(): Promise<void> {
    for (const [tokenDigest, principal] of [...ending]) {
      try {
        await controlPlane.endSessions(principal, [tokenDigest]);
        ending.delete(tokenDigest);
      } catch {
        return;
      }
    }
  }

  async function endAll(principal: Principal, tokenDigests: readonly string[]): Promise<void> {
    for (const tokenDigest of tokenDigests) known.delete(tokenDigest);
    await controlPlane.endSessions(principal, tokenDigests);
  }

  return {
    async open(principal, { address, agent } = {}) {
      const token = randomBytes(32).toString('base64url');
      const now = clock.now();
      const instant = (ms: number): string => new Date(ms).toISOString();
      const session: PersonSession = {
        session_id: `ses_${randomBytes(12).toString('base64url')}`,
        user_id: principal.userId,
        created_at: instant(now),
        last_used_at: instant(now),
        expires_at: instant(now + ttlMs),
        address: address?.slice(0, MAX_ADDRESS) ?? null,
        agent:
          agent === undefined
            ? null
            : [...agent]
                .filter((char) => char >= ' ')
                .join('')
                .slice(0, MAX_AGENT),
      };
      const tokenDigest = digestOf(token);
      await controlPlane.openSession({ token_digest: tokenDigest, session });
      remember({ tokenDigest, principal, session });
      return token;
    },
    async find(token) {
      if (!TOKEN.test(token)) return undefined;
      const tokenDigest = digestOf(token);
      if (ending.has(tokenDigest)) return undefined;
      const session = known.get(tokenDigest);
      if (session !== undefined && session.expiresMs <= clock.now()) {
        known.delete(tokenDigest);
        return undefined;
      }
      if (session !== undefined && clock.now() - session.checkedMs < CHECKED_EVERY_MS) return session;
      const question = asking.get(tokenDigest) ?? ask(tokenDigest);
      asking.set(tokenDigest, question);
      return question;
    },
    async end({ tokenDigest, principal }) {
      known.delete(tokenDigest);
      ending.set(tokenDigest, principal);
      await tellEnded();
    },
    async list(principal) {
      return (await controlPlane.sessionsOf(principal)).map(({ session }) => session);
    },
    async endById(principal, id) {
      const found = (await controlPlane.sessionsOf(principal)).find(({ session }) => session.session_id === id);
      if (found === undefined) return false;
      await endAll(principal, [found.token_digest]);
      return true;
    },
    async endOthers({ principal, tokenDigest }) {
      const others = (await controlPlane.sessionsOf(principal))
        .map(({ token_digest }) => token_digest)
        .filter((digest) => digest !== tokenDigest);
      await endAll(principal, others);
      return others.length;
    },
    forget(userId) {
      for (const [tokenDigest, { principal }] of known) if (principal.userId === userId) known.delete(tokenDigest);
    },
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
