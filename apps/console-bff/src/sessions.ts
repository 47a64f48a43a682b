import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Principal } from '@sluice/contracts';

/** A session as its owner sees it; times in epoch milliseconds. */
export interface Session {
  /** Public name; it opens nothing. */
  readonly id: string;
  readonly principal: Principal;
  readonly createdMs: number;
  readonly lastUsedMs: number;
  readonly expiresMs: number;
  /** When the roles were last asked for. */
  readonly checkedMs: number;
  readonly address: string | null;
  readonly agent: string | null;
}

export interface Sessions {
  /** A new session; the token is told once and kept as a digest. */
  open(principal: Principal, from?: { address?: string | undefined; agent?: string | undefined }): string;
  /** The session that a token stands for, which counts as used; undefined once it ended. */
  find(token: string): Session | undefined;
  /** Takes over the roles of now. Nothing happens when the session has ended meanwhile. */
  refresh(token: string, principal: Principal): void;
  end(token: string): void;
  /** Of one person, newest first. */
  list(userId: string): readonly Session[];
  /** Ends one of the person's own; false when they have no such session. */
  endById(userId: string, id: string): boolean;
  /** Ends all of a person's but the one with this token; how many. */
  endOthers(userId: string, token: string): number;
}

/** How long a session lasts, however busy it is. */
export const SESSION_TTL_MS = 8 * 3_600_000;
const MAX_AGENT = 120;

/** Sessions in memory: a restart ends them all. At most `limit`; the oldest ends first. */
export function createSessions({ clock, ttlMs = SESSION_TTL_MS, limit = 10_000 }: { clock: Pick<Clock, 'now'>; ttlMs?: number; limit?: number }): Sessions {
  // A Map keeps the order of insertion, and every session lasts equally long: the first is the next to expire.
  const byDigest = new Map<string, Session>();
  const alive = (session: Session): boolean => session.expiresMs > clock.now();

  function forgetExpired(): void {
    for (const [digest, session] of byDigest) {
      if (alive(session) && byDigest.size < limit) return;
      byDigest.delete(digest);
    }
  }

  return {
    open(principal, { address, agent } = {}) {
      forgetExpired();
      const token = randomBytes(32).toString('base64url');
      const now = clock.now();
      byDigest.set(digestOf(token), {
        id: `ses_${randomBytes(12).toString('base64url')}`,
        principal,
        createdMs: now,
        lastUsedMs: now,
        checkedMs: now,
        expiresMs: now + ttlMs,
        address: address ?? null,
        agent: agent === undefined ? null : [...agent].filter((char) => char >= ' ').join('').slice(0, MAX_AGENT),
      });
      return token;
    },
    find(token) {
      const digest = digestOf(token);
      const session = byDigest.get(digest);
      if (session === undefined || !alive(session)) return undefined;
      const used = { ...session, lastUsedMs: clock.now() };
      byDigest.set(digest, used);
      return used;
    },
    refresh(token, principal) {
      const digest = digestOf(token);
      const session = byDigest.get(digest);
      if (session !== undefined) byDigest.set(digest, { ...session, principal, checkedMs: clock.now() });
    },
    end(token) {
      byDigest.delete(digestOf(token));
    },
    list: (userId) => [...byDigest.values()].filter((session) => session.principal.userId === userId && alive(session)).toReversed(),
    endById(userId, id) {
      for (const [digest, session] of byDigest) {
        if (session.id === id && session.principal.userId === userId && alive(session)) return byDigest.delete(digest);
      }
      return false;
    },
    endOthers(userId, token) {
      const own = digestOf(token);
      let ended = 0;
      for (const [digest, session] of byDigest) {
        if (digest === own || session.principal.userId !== userId) continue;
        byDigest.delete(digest);
        ended += 1;
      }
      return ended;
    },
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
