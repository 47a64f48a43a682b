import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createLockOut } from './lock-out.ts';
import { createOperatorSessions, SESSION_TTL_MS, type StoredSession } from './operator-sessions.ts';
import { createOperatorSignIn, type OperatorSignIn } from './operator-sign-in.ts';
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

let clock: FakeClock;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 0, 1));
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
      clock,
      user: 'ops',
      password: 'right',
      cost: COST,
      accounts: { find: async (id) => (id === 'eve' ? eve : undefined) },
    });
  });

  it('locks after ten failures, longer each time, and then refuses the right password too', async () => {
    for (let i = 0; i < 10; i += 1) expect(await statusOf(signIn.verify('ops', 'wrong'))).toBe(401);
    expect(await statusOf(signIn.verify('ops', 'right'))).toBe(429);
    clock.advance(30_000);
    expect(await statusOf(signIn.verify('ops', 'wrong'))).toBe(401);
    clock.advance(30_001);
    expect(await statusOf(signIn.verify('ops', 'right'))).toBe(429);
    clock.advance(30_000);
    expect(await statusOf(signIn.verify('ops', 'right'))).toBe(200);
  });

  it("opens with the role of an account of the database, never with the other one's password, and not when it is disabled", async () => {
    expect(await signIn.verify('eve', 'her own')).toEqual({ user: 'eve', role: 'viewer' });
    expect(await statusOf(signIn.verify('eve', 'right'))).toBe(401);
    expect(await statusOf(signIn.verify('ops', 'her own'))).toBe(401);
    eve = { ...eve, enabled: false };
    expect(await statusOf(signIn.verify('eve', 'her own'))).toBe(401);
    expect(await signIn.verify('ops', 'right')).toEqual({ user: 'ops', role: 'admin' });
  });

  it('many attempts at once are no more guesses than one after the other', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => statusOf(signIn.verify('ops', 'wrong'))));
    expect(answers.filter((status) => status === 401)).toHaveLength(10);
  });

  it('guessing other names does not lock the operator out', async () => {
    for (let i = 0; i < 12; i += 1) await statusOf(signIn.verify(`guess-${i}`, 'right'));
    expect(await statusOf(signIn.verify('another', 'right'))).toBe(429);
    expect(await statusOf(signIn.verify('ops', 'right'))).toBe(200);
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
    const lockOut = createLockOut({ clock });
    person = {
      id: 'u1',
      email: 'ada@acme.test',
      passwordHash: await hashPassword('right', COST),
      roles: { 'acme-prod': 'admin', 'acme-staging': 'emperor' },
    };
    people = createPeople({
      clock,
      passwordCost: COST,
      repository: {
        find: async (email) => (email === person.email ? person : undefined),
        byId: async (id) => (id === person.id ? person : undefined),
        beginAttempt: async (id) => lockOut.begin(id),
        succeeded: async (id) => lockOut.succeeded(id),
      },
    });
  });

  it('gets the roles that are known, and no other', async () => {
    expect(await people.verify(' Ada@acme.test ', 'right')).toEqual({
      kind: 'person',
      userId: 'u1',
      email: 'ada@acme.test',
      roles: { 'acme-prod': 'admin' },
    });
  });

  it('an unknown address and a wrong password are answered alike', async () => {
    const refused = async (email: string): Promise<unknown> =>
      people.verify(email, 'wrong').catch((error: unknown) => error);
    expect(await refused('ada@acme.test')).toEqual(await refused('nobody@acme.test'));
    expect(await statusOf(people.verify('nobody@acme.test', 'right'))).toBe(401);
  });

  it('is locked like an address without an account, so that the lock does not tell which addresses have one', async () => {
    const answers = async (email: string): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1) statuses.push(await statusOf(people.verify(email, 'wrong')));
      clock.advance(30_001);
      return [
        ...statuses,
        await statusOf(people.verify(email, 'wrong')),
        await statusOf(people.verify(email, 'wrong')),
      ];
    };
    const known = await answers('ada@acme.test');
    expect(known).toEqual([...Array<number>(10).fill(401), 429, 429, 401, 429]);
    expect(await answers('Nobody@acme.test')).toEqual(known);
  });

  it('is locked after ten failures, and unlocked by time', async () => {
    for (let i = 0; i < 10; i += 1) await statusOf(people.verify('ada@acme.test', 'wrong'));
    expect(await statusOf(people.verify('ada@acme.test', 'right'))).toBe(429);
    clock.advance(30_001);
    expect(await statusOf(people.verify('ada@acme.test', 'right'))).toBe(200);
  });
});
