import { Role, type Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { From, PasswordChecks } from './password-checks.ts';

export interface StoredPerson {
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Workspace slug → role, as stored. */
  readonly roles: Readonly<Record<string, string>>;
}

export interface PersonRepository {
  /** By e-mail address, lower case. */
  find(email: string): Promise<StoredPerson | undefined>;
  byId(id: string): Promise<StoredPerson | undefined>;
}

/** Verifies people who use the tenant console. */
export interface People {
  /**
   * @throws ProblemError 401 for an unknown address and a wrong password alike, 429 for a caller who would wait too
   * long, with or without an account.
   */
  verify(email: string, password: string, from: From): Promise<Principal>;
  /** The proof for a device that has just signed in as this person. */
  deviceToken(principal: Principal): string;
  /** Whether an address has an account. */
  knows(email: string): Promise<boolean>;
  /** The person as they are now: roles change while a session lasts. Undefined once the account is gone. */
  now(userId: string): Promise<Principal | undefined>;
}

export function createPeople({ repository, checks }: { repository: PersonRepository; checks: PasswordChecks }): People {
  const accountOf = (email: string): string => `person ${email.trim().toLowerCase()}`;
  return {
    verify: async (email, password, from) => {
      const person = await repository.find(email.trim().toLowerCase());
      const matches = await checks.check(accountOf(email), { password, hash: person?.passwordHash, from });
      if (person === undefined || !matches) throw new ProblemError(401, 'Wrong e-mail address or password');
      return principalOf(person);
    },
    deviceToken: ({ email }) => checks.deviceToken(accountOf(email)),
    knows: async (email) => (await repository.find(email.trim().toLowerCase())) !== undefined,
    now: async (userId) => {
      const person = await repository.byId(userId);
      return person === undefined ? undefined : principalOf(person);
    },
  };
}

const principalOf = (person: StoredPerson): Principal => ({
  kind: 'person',
  userId: person.id,
  email: person.email,
  roles: knownRoles(person.roles),
});

/** Roles that this version knows; any other grants nothing. */
function knownRoles(stored: Readonly<Record<string, string>>): Principal['roles'] {
  const roles: Principal['roles'] = {};
  for (const [slug, value] of Object.entries(stored)) {
    const role = Role.safeParse(value);
    if (role.success) roles[slug] = role.data;
  }
  return roles;
}
