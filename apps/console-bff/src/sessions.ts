import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Principal } from '@sluice/contracts';

export interface Sessions {
  /** A new session; the token is told once and kept as a digest. */
  open(principal: Principal): string;
  /** Who the token stands for; undefined once it ended. */
  find(token: string): Principal | undefined;
  end(token: string): void;
}

/** How long a session lasts, however busy it is. */
export const SESSION_TTL_MS = 8 * 3_600_000;

/** Sessions in memory: a restart ends them all. At most `limit`; the oldest ends first. */
export function createSessions({ clock, ttlMs = SESSION_TTL_MS, limit = 10_000 }: { clock: Pick<Clock, 'now'>; ttlMs?: number; limit?: number }): Sessions {
  // A Map keeps the order of insertion, and every session lasts equally long: the first is the next to expire.
  const byDigest = new Map<string, { principal: Principal; expiresMs: number }>();

  function forgetExpired(): void {
    for (const [digest, session] of byDigest) {
      if (session.expiresMs > clock.now() && byDigest.size < limit) return;
      byDigest.delete(digest);
    }
  }

  return {
    open(principal) {
      forgetExpired();
      const token = randomBytes(32).toString('base64url');
      byDigest.set(digestOf(token), { principal, expiresMs: clock.now() + ttlMs });
      return token;
    },
    find(token) {
      const session = byDigest.get(digestOf(token));
      return session !== undefined && session.expiresMs > clock.now() ? session.principal : undefined;
    },
    end(token) {
      byDigest.delete(digestOf(token));
    },
  };
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
