import { Role, type Clock, type Principal } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { createLockOut } from './lock-out.ts';
import { tooManyFailures } from './operator-sign-in.ts';
import { createPasswordCheck } from './password-check.ts';
import { hashPassword, type ScryptCost } from './password.ts';

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
  /**
   * Begins a sign-in, counted as failed until it succeeds: 0 when it may go on, else the milliseconds to wait. In one
   * step, so that many attempts at once are no more guesses than one after the other.
   */
  beginAttempt(id: string): Promise<number>;
  /** Forgets the attempts. */
  succeeded(id: string): Promise<void>;
}

/** Verifies people who use the tenant console. */
export interface People {
  /**
   * @throws ProblemError 401 for an unknown address and a wrong password alike, 429 while the address is locked,
   * with or without an account.
   */
  verify(email: string, password: string): Promise<Principal>;
  /** Whether an address has an account. */
  knows(email: string): Promise<boolean>;
  /** The person as they are now: roles change while a session lasts. Undefined once the account is gone. */
  now(userId: string): Promise<Principal | undefined>;
}

export function createPeople(deps: {
  repository: PersonRepository;
  clock: Clock;
  passwordCost?: ScryptCost | undefined;
}): People {
  /** Verified against when the address is unknown, so that the answer takes as long. */
  let decoy: Promise<string> | undefined;
  const check = createPasswordCheck();
  /** Of addresses without an account: a lock that only accounts had would tell which addresses have one. */
  const strangers = createLockOut({ clock: deps.clock });
  return {
    verify: async (email, password) => {
      const address = email.trim().toLowerCase();
      const person = await deps.repository.find(address);
      const waitMs = person === undefined ? strangers.begin(address) : await deps.repository.beginAttempt(person.id);
      if (waitMs > 0) throw tooManyFailures(waitMs);
      decoy ??= hashPassword('nobody', deps.passwordCost);
      const matches = await check(password, person?.passwordHash ?? (await decoy));
      if (person === undefined || !matches) throw new ProblemError(401, 'Wrong e-mail address or password');
      await deps.repository.succeeded(person.id);
      return principalOf(person);
    },
    knows: async (email) => (await deps.repository.find(email.trim().toLowerCase())) !== undefined,
    now: async (userId) => {
      const person = await deps.repository.byId(userId);
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
