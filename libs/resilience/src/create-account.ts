import type { Account, AccountOptions } from './account.ts';
import { AccountStanding } from './account-standing.ts';

/** An account that starts well. There is no timer: each rest is computed when somebody looks. */
export function createAccount(options: AccountOptions): Account {
  return new AccountStanding(options);
}
