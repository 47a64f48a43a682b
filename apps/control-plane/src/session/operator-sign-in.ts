import { ProblemError, safeEqual } from '@sluice/service-kit';
import type { OperatorAccountStore } from '../accounts/account-store.ts';
import type { Operator } from './operator-sessions.ts';
import type { From, PasswordChecks } from './password-checks.ts';
import { hashPassword, type ScryptCost } from './password.ts';

/** Checks an operator's credentials. */
export interface OperatorSignIn {
  /** Name of the account of the environment: always an admin, also without the database. */
  readonly rootUser: string;
  /**
   * @throws ProblemError 401 for a wrong name, a wrong password and a disabled account alike, 429 for a caller who
   * would wait too long, 503 for an account of the database while that does not answer.
   */
  verify(user: string, password: string, from: From): Promise<Operator>;
  /** The proof for a device that has just signed in as this operator. */
  deviceToken(operator: Operator): string;
}

/** The account of the environment and those of the database. The environment's password is hashed at once and not kept. */
export async function createOperatorSignIn(deps: {
  user: string;
  password: string;
  cost?: ScryptCost;
  accounts: Pick<OperatorAccountStore, 'find'>;
  checks: PasswordChecks;
}): Promise<OperatorSignIn> {
  const { user: rootUser, checks } = deps;
  const rootHash = await hashPassword(deps.password, deps.cost);
  const accountOf = (user: string): string => `operator ${user}`;

  async function find(user: string): Promise<{ hash: string | undefined; operator: Operator | undefined }> {
    if (safeEqual(user, rootUser)) return { hash: rootHash, operator: { user: rootUser, role: 'admin' } };
    const account = await deps.accounts.find(user);
    const operator = account?.enabled === true ? { user: account.id, role: account.role } : undefined;
    return { hash: account?.passwordHash, operator };
  }

  return {
    rootUser,
    deviceToken: ({ user }) => checks.deviceToken(accountOf(user)),
    verify: async (user, password, from) => {
      const { hash, operator } = await find(user);
      // A disabled account is answered like one that does not exist.
      const known = operator === undefined ? undefined : hash;
      const matches = await checks.check(accountOf(user), { password, hash: known, from });
      if (operator === undefined || !matches) throw new ProblemError(401, 'Wrong name or password');
      return operator;
    },
  };
}
