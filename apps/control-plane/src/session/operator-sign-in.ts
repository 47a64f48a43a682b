import type { Clock } from '@sluice/contracts';
import { ProblemError, safeEqual } from '@sluice/service-kit';
import type { OperatorAccountStore } from '../accounts/account-store.ts';
import { createLockOut } from './lock-out.ts';
import type { Operator } from './operator-sessions.ts';
import { createPasswordCheck } from './password-check.ts';
import { hashPassword, type ScryptCost } from './password.ts';

/** Checks an operator's credentials. */
export interface OperatorSignIn {
  /** Name of the account of the environment: always an admin, also without the database. */
  readonly rootUser: string;
  /**
   * @throws ProblemError 401 for a wrong name, a wrong password and a disabled account alike, 429 while the account
   * is locked
   *   or too many sign in at once, 503 for an account of the database while that does not answer.
   */
  verify(user: string, password: string): Promise<Operator>;
}

/**
 * The account of the environment and those of the database. The environment's password is hashed at once and not
 * kept. All unknown names share one lock, so that guessing names costs as much as guessing passwords.
 */
export async function createOperatorSignIn(deps: {
  clock: Clock;
  user: string;
  password: string;
  cost?: ScryptCost;
  accounts: Pick<OperatorAccountStore, 'find'>;
}): Promise<OperatorSignIn> {
  const lockOut = createLockOut({ clock: deps.clock });
  const { user: rootUser } = deps;
  const rootHash = await hashPassword(deps.password, deps.cost);
  const check = createPasswordCheck();

  /** Its hash is the environment's when there is no such account, so that the answer takes as long. */
  async function find(user: string): Promise<{ lock: string; hash: string; operator: Operator | undefined }> {
    if (safeEqual(user, rootUser)) return { lock: 'root', hash: rootHash, operator: { user: rootUser, role: 'admin' } };
    const account = await deps.accounts.find(user);
    if (account === undefined) return { lock: 'unknown', hash: rootHash, operator: undefined };
    return {
      lock: `account ${account.id}`,
      hash: account.passwordHash,
      operator: account.enabled ? { user: account.id, role: account.role } : undefined,
    };
  }

  return {
    rootUser,
    verify: async (user, password) => {
      const { lock, hash, operator } = await find(user);
      const waitMs = lockOut.begin(lock);
      if (waitMs > 0) throw tooManyFailures(waitMs);
      const matches = await check(password, hash);
      if (operator === undefined || !matches) throw new ProblemError(401, 'Wrong name or password');
      lockOut.succeeded(lock);
      return operator;
    },
  };
}

/** The answer while an account is locked; says how long. */
export function tooManyFailures(waitMs: number): ProblemError {
  const seconds = Math.ceil(waitMs / 1000);
  return new ProblemError(429, 'Too many failed sign-ins', {
    detail: `Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  });
}
