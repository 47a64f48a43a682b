import type { OpenedSession, Principal } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { CHECKED_EVERY_MS, createSessions, SESSION_TTL_MS, type Session, type SessionsDeps } from './sessions.ts';

const PERSON: Principal = { kind: 'person', userId: 'u1', email: 'a@b.test', roles: { 'acme-prod': 'admin' } };
const OTHER: Principal = { ...PERSON, userId: 'u2' };

/** A control plane that keeps sessions, and may be away. */
class Keeper {
  readonly kept = new Map<string, OpenedSession>();
  roles: Principal['roles'] = PERSON.roles;
  away = false;
  asked = 0;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  readonly controlPlane: SessionsDeps['controlPlane'] = {
    openSession: async (opened) => this.#there(() => void this.kept.set(opened.token_digest, opened)),
    seenSession: async (digest) =>
      this.#there(() => {
        this.asked += 1;
        const session = this.kept.get(digest)?.session;
        if (session === undefined || Date.parse(session.expires_at) <= this.#clock.now()) return undefined;
        return { session, principal: { ...PERSON, userId: session.user_id, roles: this.roles } };
      }),
    sessionsOf: async ({ userId }) =>
      this.#there(() => [...this.kept.values()].filter(({ session }) => session.user_id === userId).toReversed()),
    endSessions: async ({ userId }, digests) =>
      this.#there(() => {
        for (const digest of digests) if (this.kept.get(digest)?.session.user_id === userId) this.kept.delete(digest);
      }),
  };

  #there<T>(act: () => T): T {
    if (this.away) throw new Error('the control plane is away');
    return act();
  }
}

let clock: FakeClock;
let keeper: Keeper;
const backend = (more: Partial<SessionsDeps> = {}) =>
  createSessions({ clock, controlPlane: keeper.controlPlane, ...more });
beforeEach(() => {
  clock = createFakeClock(1_800_000_000_000);
  keeper = new Keeper(clock);
});

describe('a session', () => {
  it('is known to every backend, also to one that was started later, and by its digest alone to the control plane', async () => {
    const token = await backend().open(PERSON, { address: '::1', agent: 'Firefox\u0007' });
    expect(await backend().find(token)).toMatchObject({
      principal: PERSON,
      session: { user_id: 'u1', address: '::1', agent: 'Firefox' },
    });
    expect(JSON.stringify([...keeper.kept])).not.toContain(token);
  });

  it('that was ended at one backend is over at another ten seconds later at most, and at its own at once', async () => {
    const [one, two] = [backend(), backend()];
    const token = await one.open(PERSON);
    await two.find(token);
    await one.end((await one.find(token)) as Session);
    expect(await one.find(token)).toBeUndefined();
    clock.advance(CHECKED_EVERY_MS);
    expect(await two.find(token)).toBeUndefined();
  });

  it('takes over the roles of now every ten seconds, with one question however many requests wait for it', async () => {
    const sessions = backend();
    const token = await sessions.open(PERSON);
    keeper.roles = {};
    expect((await sessions.find(token))?.principal.roles).toEqual(PERSON.roles);
    clock.advance(CHECKED_EVERY_MS);
    const found = await Promise.all([sessions.find(token), sessions.find(token), sessions.find(token)]);
    expect([found.map((session) => session?.principal.roles), keeper.asked]).toEqual([[{}, {}, {}], 1]);
  });

  it('goes on where it was used while the control plane is away, is unknown elsewhere, and ends with its time', async () => {
    const [one, two] = [backend(), backend()];
    const token = await one.open(PERSON);
    keeper.away = true;
    clock.advance(CHECKED_EVERY_MS);
    expect((await one.find(token))?.principal).toEqual(PERSON);
    await expect(two.find(token)).rejects.toThrow('away');
    clock.advance(SESSION_TTL_MS - CHECKED_EVERY_MS);
    expect(await one.find(token)).toBeUndefined();
  });

  it('that was ended while the control plane is away is over here at once, and there as soon as it is back', async () => {
    const sessions = backend();
    const [ended, other] = [await sessions.open(PERSON), await sessions.open(PERSON)];
    const session = (await sessions.find(ended)) as Session;
    keeper.away = true;
    await sessions.end(session);
    expect(await sessions.find(ended)).toBeUndefined();
    keeper.away = false;
    clock.advance(CHECKED_EVERY_MS);
    await sessions.find(other);
    await new Promise(setImmediate);
    expect([...keeper.kept.keys()]).toEqual([((await sessions.find(other)) as Session).tokenDigest]);
  });

  it('is not brought back by an answer that was on its way when it was ended', async () => {
    const sessions = backend();
    const token = await sessions.open(PERSON);
    const session = (await sessions.find(token)) as Session;
    clock.advance(CHECKED_EVERY_MS);
    const asked = sessions.find(token);
    await sessions.end(session);
    expect(await asked).toBeUndefined();
    expect(await sessions.find(token)).toBeUndefined();
  });

  it('that cannot be kept is not opened', async () => {
    keeper.away = true;
    await expect(backend().open(PERSON)).rejects.toThrow('away');
  });

  it('beyond those that are remembered here is asked for again', async () => {
    const sessions = backend({ limit: 2 });
    const tokens = [await sessions.open(PERSON), await sessions.open(PERSON), await sessions.open(PERSON)];
    expect((await sessions.find(tokens[0] as string))?.principal).toEqual(PERSON);
    expect(keeper.asked).toBe(1);
  });

  it('is asked for only by what can be a token', async () => {
    expect([
      await backend().find(''),
      await backend().find('x'.repeat(44)),
      await backend().find(`${'x'.repeat(42)}"`),
    ]).toEqual([undefined, undefined, undefined]);
    expect(keeper.asked).toBe(0);
  });
});

describe('the sessions of a person', () => {
  it('are listed and ended, one or all others, and nobody else’s', async () => {
    const sessions = backend();
    const [first, second, third, foreign] = [
      await sessions.open(PERSON),
      await sessions.open(PERSON),
      await sessions.open(PERSON),
      await sessions.open(OTHER),
    ];
    const own = (await sessions.find(first)) as Session;
    const theirs = (await sessions.find(foreign)) as Session;
    expect(await sessions.list(PERSON)).toHaveLength(3);
    expect(await sessions.endById(PERSON, theirs.session.session_id)).toBe(false);
    expect(await sessions.endById(PERSON, ((await sessions.find(second)) as Session).session.session_id)).toBe(true);
    expect(await sessions.endOthers(own)).toBe(1);
    expect(
      await Promise.all(
        [first, second, third, foreign].map(async (token) => (await sessions.find(token)) !== undefined),
      ),
    ).toEqual([true, false, false, true]);
  });
});
