import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createOperatorSessions, SESSION_TTL_MS, type StoredSession } from './operator-sessions.ts';
import { createOperatorSignIn, type OperatorSignIn } from './operator-sign-in.ts';
import { createPasswordChecks, type PasswordChecks } from './password-checks.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { createPeople, type People, type StoredPerson } from './people.ts';

const COST = { N: 16, r: 1, p: 1 };
const statusOf = async (work: Promise<unknown>): Promise<number> => {
  try {
    await work;
    return 200;
  } catch (error) {
    return (error as { status: number }).status;
  }
};

const FROM = { address: '192.0.2.7' };
let clock: FakeClock;
let checks: PasswordChecks;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 0, 1));
  checks = createPasswordChecks({ clock, deviceKey: 'key', failureStepMs: 0 });
});

describe('a password', () => {
  it('is kept as a salted hash that only it matches', async () => {
    const [first, second] = [await hashPassword('correct horse', COST), await hashPassword('correct horse', COST)];
    expect(first).not.toBe(second);
    expect(first).not.toContain('correct');
    expect(await verifyPassword('correct horse', first)).toBe(true);
    expect(await verifyPassword('correct horsf', first)).toBe(false);
    expect(await verifyPassword('correct horse', 'plain')).toBe(false);
  });
});

describe('signing in as operator', () => {
  let signIn: OperatorSignIn;
  let eve: { id: string; role: 'viewer'; enabled: boolean; version: number; createdAt: string; passwordHash: string };
  beforeEach(async () => {
    eve = {
      id: 'eve',
      role: 'viewer',
      enabled: true,
      version: 1,
      createdAt: '',
      passwordHash: await hashPassword('her own', COST),
    };
    signIn = await createOperatorSignIn({
      checks,
      user: 'ops',
      password: 'right',
      cost: COST,
      accounts: { find: async (id) => (id === 'eve' ? eve : undefined) },
    });
  });

  it("opens with the role of an account of the database, never with the other one's password, and not when it is disabled", async () => {
    expect(await signIn.verify('eve', 'her own', FROM)).toEqual({ user: 'eve', role: 'viewer' });
    expect(await statusOf(signIn.verify('eve', 'right', FROM))).toBe(401);
    expect(await statusOf(signIn.verify('ops', 'her own', FROM))).toBe(401);
    eve = { ...eve, enabled: false };
    expect(await statusOf(signIn.verify('eve', 'her own', FROM))).toBe(401);
    expect(await signIn.verify('ops', 'right', FROM)).toEqual({ user: 'ops', role: 'admin' });
  });
});

describe('an operator session', () => {
  it('stays open while the database is down, and outlives a restart when it is up', async () => {
    const stored = new Map<string, StoredSession>();
    let down = false;
    const guard = (): void => {
      if (down) throw new Error('down');
    };
    const archive = {
      save: async (digest: string, session: StoredSession) => {
        guard();
        stored.set(digest, session);
      },
      find: async (digest: string) => {
        guard();
        return stored.get(digest);
      },
      remove: async (digest: string) => {
        guard();
        stored.delete(digest);
      },
      removeOf: async () => guard(),
    };
    const sessions = createOperatorSessions({ clock, archive });
    const token = await sessions.open({ user: 'ops', role: 'admin' });
    expect([...stored.keys()].join()).not.toContain(token);
    down = true;
    expect(await sessions.find(token)).toEqual({ user: 'ops', role: 'admin' });
    const offline = await sessions.open({ user: 'ops', role: 'admin' });
    expect(await sessions.find(offline)).toBeDefined();
    down = false;
    const restarted = createOperatorSessions({ clock, archive });
    expect(await restarted.find(token)).toEqual({ user: 'ops', role: 'admin' });
    clock.advance(SESSION_TTL_MS);
    expect(await restarted.find(token)).toBeUndefined();
  });

  it.each(['endOf', 'end'] as const)('that is looked up in the moment of its %s stays ended', async (how) => {
    const answers: ((session: StoredSession | undefined) => void)[] = [];
    const sessions = createOperatorSessions({
      clock,
      archive: {
        save: async () => undefined,
        find: () => new Promise((resolve) => answers.push(resolve)),
        remove: async () => undefined,
        removeOf: async () => undefined,
      },
    });
    const found = sessions.find('token');
    await (how === 'end' ? sessions.end('token') : sessions.endOf('ada'));
    // Read before the archive heard of the end.
    answers[0]?.({ operator: { user: 'ada', role: 'admin' }, expiresAtMs: clock.now() + 1_000 });
    await new Promise((resolve) => setImmediate(resolve));
    answers[1]?.(undefined);
    expect(await found).toBeUndefined();
  });
});

describe('a person of a tenant', () => {
  let person: StoredPerson;
  let people: People;
  beforeEach(async () => {
    person = {
      id: 'u1',
      email: 'ada@acme.test',
      passwordHash: await hashPassword('right', COST),
      roles: { 'acme-prod': 'admin', 'acme-staging': 'emperor' },
    };
    people = createPeople({
      checks,
      repository: {
        find: async (email) => (email === person.email ? person : undefined),
        byId: async (id) => (id === person.id ? person : undefined),
      },
    });
  });

  it('gets the roles that are known, and no other', async () => {
    expect(await people.verify(' Ada@acme.test ', 'right', FROM)).toEqual({
      kind: 'person',
      userId: 'u1',
      email: 'ada@acme.test',
      roles: { 'acme-prod': 'admin' },
    });
  });

  it('is never locked out by wrong passwords, nor is an operator', async () => {
    for (let i = 0; i < 30; i += 1) expect(await statusOf(people.verify('ada@acme.test', 'wrong', FROM))).toBe(401);
    expect(await statusOf(people.verify('ada@acme.test', 'right', FROM))).toBe(200);
  });

  it('an unknown address and a wrong password are answered alike', async () => {
    const refused = async (email: string): Promise<unknown> =>
      people.verify(email, 'wrong', FROM).catch((error: unknown) => error);
    expect(await refused('ada@acme.test')).toEqual(await refused('nobody@acme.test'));
    expect(await statusOf(people.verify('nobody@acme.test', 'right', FROM))).toBe(401);
  });
});
