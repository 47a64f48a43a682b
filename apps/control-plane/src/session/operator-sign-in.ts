import type { Clock } from '@sluice/contracts';
import { ProblemError, safeEqual } from '@sluice/service-kit';
import { createLockOut } from './lock-out.ts';
import type { Operator } from './operator-sessions.ts';
import { hashPassword, verifyPassword, type ScryptCost } from './password.ts';

/** Checks an operator's credentials. */
export interface OperatorSignIn {
  /** @throws ProblemError 401 for a wrong name or password alike, 429 while the account is locked. */
  verify(user: string, password: string): Promise<Operator>;
}

/**
 * The one operator account of the environment. Its password is hashed at once and not kept. All unknown names share
 * one lock, so that guessing names costs as much as guessing passwords.
 */
export async function createOperatorSignIn(deps: { clock: Clock; user: string; password: string; cost?: ScryptCost }): Promise<OperatorSignIn> {
  const lockOut = createLockOut({ clock: deps.clock });
  const { user: knownUser } = deps;
  const hash = await hashPassword(deps.password, deps.cost);
  return {
    verify: async (user, password) => {
      const known = safeEqual(user, knownUser);
      const account = known ? 'operator' : 'unknown';
      const waitMs = lockOut.begin(account);
      if (waitMs > 0) throw tooManyFailures(waitMs);
      const matches = await verifyPassword(password, hash);
      if (!known || !matches) throw new ProblemError(401, 'Wrong name or password');
      lockOut.succeeded(account);
      return { user: knownUser, role: 'admin' };
    },
  };
}

/** The answer while an account is locked; says how long. */
export function tooManyFailures(waitMs: number): ProblemError {
  const seconds = Math.ceil(waitMs / 1000);
  return new ProblemError(429, 'Too many failed sign-ins', { detail: `Try again in ${seconds} s.`, headers: { 'retry-after': String(seconds) } });
}
