import type { Clock, Principal } from '@sluice/contracts';
import { Role } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { lockedUntilMs } from './lock-out.ts';
import { tooManyFailures } from './operator-sign-in.ts';
import { hashPassword, verifyPassword } from './password.ts';

export interface StoredPerson {
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Workspace slug → role, as stored. */
  readonly roles: Readonly<Record<string, string>>;
  readonly failedAttempts: number;
  readonly lockedUntilMs: number | undefined;
}

export interface PersonRepository {
  /** By e-mail address, lower case. */
  find(email: string): Promise<StoredPerson | undefined>;
  /** Stores the outcome of a sign-in: 0 failures after a success. */
  recordAttempt(id: string, failedAttempts: number, lockedUntilMs: number | undefined): Promise<void>;
}

/** Verifies people who use the tenant console. */
export interface People {
  /** @throws ProblemError 401 for an unknown address and a wrong password alike, 429 while the account is locked. */
  verify(email: string, password: string): Promise<Principal>;
}

export function createPeople(deps: { clock: Clock; repository: PersonRepository }): People {
  /** Verified against when the address is unknown, so that the answer takes as long. */
  let decoy: Promise<string> | undefined;
  return {
    verify: async (email, password) => {
      const person = await deps.repository.find(email.trim().toLowerCase());
      const waitMs = (person?.lockedUntilMs ?? 0) - deps.clock.now();
      if (waitMs > 0) throw tooManyFailures(waitMs);
      decoy ??= hashPassword('nobody');
      const matches = await verifyPassword(password, person?.passwordHash ?? (await decoy));
      if (person === undefined || !matches) {
        if (person !== undefined) {
          const failures = person.failedAttempts + 1;
          await deps.repository.recordAttempt(person.id, failures, lockedUntilMs(failures, deps.clock.now()));
        }
        throw new ProblemError(401, 'Wrong e-mail address or password');
      }
      if (person.failedAttempts > 0) await deps.repository.recordAttempt(person.id, 0, undefined);
      return { kind: 'person', userId: person.id, email: person.email, roles: knownRoles(person.roles) };
    },
  };
}

/** Roles that this version knows; any other grants nothing. */
function knownRoles(stored: Readonly<Record<string, string>>): Principal['roles'] {
  const roles: Principal['roles'] = {};
  for (const [slug, value] of Object.entries(stored)) {
    const role = Role.safeParse(value);
    if (role.success) roles[slug] = role.data;
  }
  return roles;
}
