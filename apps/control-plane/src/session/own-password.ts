import type { ChangePasswordRequest, Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { PersonAccountStore } from '../accounts/account-store.ts';
import type { AuditInput } from '../config/config-repository.ts';
import { hashPassword, type ScryptCost } from './password.ts';
import type { People } from './people.ts';
import type { PersonSessions } from './person-sessions.ts';

export interface OwnPasswordDeps {
  /** Less than the default in tests. */
  readonly passwordCost?: ScryptCost | undefined;
  readonly people: Pick<People, 'verify'>;
  readonly personAccounts: Pick<PersonAccountStore, 'find' | 'update'>;
  readonly personSessions: Pick<PersonSessions, 'endOf'>;
}

/**
 * Gives a person the password that they chose, and ends all of their sessions: whoever knew the old one may be
 * signed in by it. A wrong old password counts as a failed sign-in, so that an open session is no way around
 * their pace.
 *
 * @throws ProblemError 400 that names the field, 404 for somebody who is gone, 409 when the account changed
 * meanwhile, 429 for a caller who would wait too long.
 */
export async function changeOwnPassword(
  deps: OwnPasswordDeps,
  { userId, email }: Principal,
  asked: ChangePasswordRequest,
  actor: AuditInput['actor'],
): Promise<void> {
  const account = await deps.personAccounts.find(userId);
  if (account === undefined) throw new ProblemError(404, 'Not found');
  await requireOld(deps.people, email, asked.old_password);
  if (asked.new_password === asked.old_password) throw refused('new_password', 'must differ from the one you have');
  const passwordHash = await hashPassword(asked.new_password, deps.passwordCost);
  const audit: AuditInput = { type: 'user.password_changed', actor, target: { kind: 'users', id: userId } };
  // At the version that was read before the old password was found right: one that an operator gave meanwhile stays.
  const version = await deps.personAccounts.update(
    { id: userId, roles: account.roles, passwordHash },
    account.version,
    audit,
  );
  if (version === undefined)
    throw new ProblemError(409, 'Your account changed in this moment', {
      detail: 'Nothing was changed by you. Try again.',
    });
  await deps.personSessions.endOf(userId);
}

async function requireOld(people: Pick<People, 'verify'>, email: string, password: string): Promise<void> {
  try {
    // Being signed in is the proof: strangers who guess do not keep a person from changing the password.
    await people.verify(email, password, { signedIn: true });
  } catch (error) {
    // Not a 401: the person is signed in.
    if (error instanceof ProblemError && error.status === 401)
      throw refused('old_password', 'is not the password you have');
    throw error;
  }
}

const refused = (path: string, message: string): ProblemError =>
  new ProblemError(400, 'The password was not changed', { errors: [{ path, message }] });
