import { PRINCIPAL_HEADER, type Principal } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import { createFakeClock } from '@sluice/testing';
import { createMemoryAccounts } from '../accounts/memory-accounts.ts';
import { hashPassword } from '../session/password.ts';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from '../testing/start-test-plane.ts';

const clock = createFakeClock(Date.UTC(2026, 5, 1));
const ADA = { id: 'u1', email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } };

let test: TestPlane;
beforeAll(async () => {
  const passwordHash = await hashPassword('right', { N: 16, r: 1, p: 1 });
  test = await startTestPlane(
    {
      people: {
        find: async (email) => (email === ADA.email ? { ...ADA, passwordHash } : undefined),
        byId: async () => undefined,
      },
    },
    clock,
  );
});
afterAll(() => test.close());

const bff = { authorization: `Bearer ${TEST_SETTINGS.bffToken}` };
const signIn = async (password: string) =>
  (await test.call('POST', '/internal/people/session', { email: ADA.email, password, address: '203.0.113.9' }, bff))
    .status;
const audited = (type: string) =>
  test.audited.filter((record) => record.type === type && record.target.id === 'tenant-console');

describe('sign-ins of people', () => {
  it('are audited with the address they came from, and so are sign-outs', async () => {
    expect(await signIn('right')).toBe(200);
    expect(audited('session.started')).toEqual([
      {
        type: 'session.started',
        actor: { kind: 'person', id: 'u1', address: '203.0.113.9' },
        target: { kind: 'session', id: 'tenant-console' },
      },
    ]);
    const principal: Principal = { kind: 'person', userId: 'u1', email: ADA.email, roles: { 'acme-prod': 'admin' } };
    const ended = await test.call(
      'POST',
      '/internal/people/sessions/ended',
      { token_digests: ['d'.repeat(43)] },
      { ...bff, [PRINCIPAL_HEADER]: signPrincipal(principal, TEST_SETTINGS.principalKey, clock) },
    );
    expect(ended.status).toBe(204);
    expect(audited('session.ended')).toMatchObject([{ actor: { kind: 'person', id: 'u1' } }]);
  });

  it('that fail are audited without what was typed, and a flood of them by its count', async () => {
    for (let n = 0; n < 50; n += 1) expect(await signIn(`wrong-${n}`)).toBe(401);
    expect(audited('session.refused')).toHaveLength(20);
    clock.advance(1_000);
    await signIn('wrong again');
    expect(audited('session.refused').at(-1)).toMatchObject({
      actor: { kind: 'anonymous', address: '203.0.113.9' },
      after: { suppressed: 30 },
    });
    expect(JSON.stringify(audited('session.refused'))).not.toMatch(/wrong|ada@/);
  }, 30_000);
});

describe('a person’s own password', () => {
  const cost = { N: 16, r: 1, p: 1 };
  const OLD = 'the old password';
  const NEW = 'a new long password';

  async function start() {
    const audited: Parameters<typeof createMemoryAccounts>[0] = [];
    const accounts = createMemoryAccounts(audited);
    await accounts.people.insert(
      { id: ADA.id, email: ADA.email, roles: { 'acme-prod': 'admin' }, passwordHash: await hashPassword(OLD, cost) },
      { type: 'user.created', actor: { kind: 'operator', id: 'ops' }, target: { kind: 'users', id: ADA.id } },
    );
    audited.length = 0;
    const ended: string[] = [];
    const plane = await startTestPlane(
      {
        people: {
          find: async (email) => ({ ...ADA, passwordHash: accounts.people.hashOf(email) ?? '' }),
          byId: async () => undefined,
        },
        personAccounts: accounts.people,
        personSessions: {
          open: async () => undefined,
          seen: async () => undefined,
          of: async () => [],
          end: async () => 1,
          endOf: async (id) => void ended.push(id),
        },
      },
      clock,
    );
    const principal: Principal = { kind: 'person', userId: ADA.id, email: ADA.email, roles: { 'acme-prod': 'admin' } };
    return {
      plane,
      audited,
      ended,
      accounts,
      change: (old_password: string, new_password: string) =>
        plane.call(
          'POST',
          '/internal/people/password',
          { old_password, new_password },
          { ...bff, [PRINCIPAL_HEADER]: signPrincipal(principal, TEST_SETTINGS.principalKey, clock) },
        ),
      signIn: async (password: string) =>
        (await plane.call('POST', '/internal/people/session', { email: ADA.email, password }, bff)).status,
    };
  }

  it('is changed with the old one, signs in from then on, ends every session, and is audited without any password', async () => {
    const { plane, change, signIn, ended, audited, accounts } = await start();
    expect((await change(OLD, NEW)).status).toBe(204);
    expect([await signIn(OLD), await signIn(NEW), ended]).toEqual([401, 200, [ADA.id]]);
    expect(audited).toEqual([
      {
        type: 'user.password_changed',
        actor: { kind: 'person', id: ADA.id, address: expect.any(String) },
        target: { kind: 'users', id: ADA.id },
      },
    ]);
    expect((await accounts.people.find(ADA.id))?.roles).toEqual({ 'acme-prod': 'admin' });
    await plane.close();
  }, 30_000);

  it('stays, and no session ends, when the old one is wrong, the new one is the old or too short', async () => {
    const { plane, change, ended, audited } = await start();
    for (const [old, next, path] of [
      ['wrong', NEW, 'old_password'],
      [OLD, OLD, 'new_password'],
      [OLD, 'too short', 'new_password'],
    ] as const) {
      const res = await change(old, next);
      expect([res.status, await res.json()]).toMatchObject([400, { errors: [{ path }] }]);
    }
    expect([ended, audited]).toEqual([[], []]);
    await plane.close();
  }, 30_000);

  it('can be changed while strangers guess at the account', async () => {
    const { plane, change, signIn } = await start();
    const guesses = Array.from({ length: 30 }, (_, n) => signIn(`guess-${n}`));
    expect((await change(OLD, NEW)).status).toBe(204);
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401, 429]));
    await plane.close();
  }, 30_000);
});
