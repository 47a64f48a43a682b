import { PRINCIPAL_HEADER, type Principal } from '@sluice/contracts';
import { signPrincipal } from '@sluice/service-kit';
import { createFakeClock } from '@sluice/testing';
import { hashPassword } from '../session/password.ts';
import { startTestPlane, TEST_SETTINGS, type TestPlane } from '../testing/start-test-plane.ts';

const clock = createFakeClock(Date.UTC(2026, 5, 1));
const ADA = { id: 'u1', email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } };

let test: TestPlane;
beforeAll(async () => {
  const passwordHash = await hashPassword('right', { N: 16, r: 1, p: 1 });
  test = await startTestPlane({ people: { find: async (email) => (email === ADA.email ? { ...ADA, passwordHash } : undefined), byId: async () => undefined, beginAttempt: async () => 0, succeeded: async () => undefined } }, clock);
});
afterAll(() => test.close());

const bff = { authorization: `Bearer ${TEST_SETTINGS.bffToken}` };
const signIn = async (password: string) => (await test.call('POST', '/internal/people/session', { email: ADA.email, password, address: '203.0.113.9' }, bff)).status;
const audited = (type: string) => test.audited.filter((record) => record.type === type && record.target.id === 'tenant-console');

describe('sign-ins of people', () => {
  it('are audited with the address they came from, and so are sign-outs', async () => {
    expect(await signIn('right')).toBe(200);
    expect(audited('session.started')).toEqual([{ type: 'session.started', actor: { kind: 'person', id: 'u1', address: '203.0.113.9' }, target: { kind: 'session', id: 'tenant-console' } }]);
    const principal: Principal = { kind: 'person', userId: 'u1', email: ADA.email, roles: { 'acme-prod': 'admin' } };
    const ended = await test.call('POST', '/internal/people/sessions/ended', { token_digests: ['d'.repeat(43)] }, { ...bff, [PRINCIPAL_HEADER]: signPrincipal(principal, TEST_SETTINGS.principalKey, clock) });
    expect(ended.status).toBe(204);
    expect(audited('session.ended')).toMatchObject([{ actor: { kind: 'person', id: 'u1' } }]);
  });

  it('that fail are audited without what was typed, and a flood of them by its count', async () => {
    for (let n = 0; n < 50; n += 1) expect(await signIn(`wrong-${n}`)).toBe(401);
    expect(audited('session.refused')).toHaveLength(20);
    clock.advance(1_000);
    await signIn('wrong again');
    expect(audited('session.refused').at(-1)).toMatchObject({ actor: { kind: 'anonymous', address: '203.0.113.9' }, after: { suppressed: 30 } });
    expect(JSON.stringify(audited('session.refused'))).not.toMatch(/wrong|ada@/);
  }, 30_000);
});
