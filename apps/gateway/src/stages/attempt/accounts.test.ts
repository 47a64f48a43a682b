import type { SlotLease, SlotPool } from '@sluice/limits';
import type { Call } from '../../call.ts';
import { createAttemptUnderTest, OK, type Reply } from '../../testing/attempt-under-test.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';
import { missingSecrets } from '../../upstream/secrets.ts';

const secret = (name: string) => ({ kind: 'env', name });
const credentials =
  (...list: object[]) =>
  (raw: RawSnapshot) =>
    void Object.assign(raw.providers.primary as object, { credentials: list });
const ONE = credentials({ id: 'a', slots: 5, secret: secret('SLUICE_SECRET_A') });
const TWO = credentials(
  { id: 'a', slots: 5, secret: secret('SLUICE_SECRET_A') },
  { id: 'b', slots: 5, secret: secret('SLUICE_SECRET_B') },
);
/** Of a tenant that met nothing. */
const FRESH = { tenantId: 'somebody', tokens: 1, mayWaitMs: 0 };
const stateOf = (under: ReturnType<typeof createAttemptUnderTest>) =>
  under.capacity.report().map(({ credential, state }) => `${credential}:${state}`);
const restsOf = (under: ReturnType<typeof createAttemptUnderTest>) =>
  under.capacity
    .report()
    .flatMap(({ credential, rests }) =>
      rests.map(({ kind, tenant = '*', model = '*' }) => `${credential}: ${kind} ${tenant} ${model}`),
    );

describe('an account that the provider refuses', () => {
  it.each([401, 402])(
    'with %s is left alone, told once, and feeds no breaker; a probe after half a minute brings it back',
    async (status) => {
      const under = createAttemptUnderTest({ primary: [{ status }, { status }, OK] }, ONE);
      for (let i = 0; i < 5; i += 1) expect((await under.run()).code).toBe('upstream_account');
      expect(under.sent).toHaveLength(1);
      expect(stateOf(under)).toEqual(['a:account_fault']);
      under.clock.advance(30_000);
      expect((await under.run()).code).toBe('upstream_account');
      expect(under.sent).toHaveLength(2);
      under.clock.advance(30_000);
      expect((await under.run()).code).toBe('ok');
      expect((await under.run()).code).toBe('ok');
      expect(under.accounts.map(({ to, status: told }) => [to, told])).toEqual([
        ['refused', status],
        ['accepted', undefined],
      ]);
      expect(stateOf(under)).toEqual(['a:ok']);
      expect(under.breakers.report()[0]?.calls).toBe(2);
    },
  );

  it('with 403 is left alone by the tenant that met it on that model, told once it lasts, and tried again', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 403 }, { status: 403 }, OK] }, ONE);
    for (let i = 0; i < 5; i += 1) expect((await under.run()).code).toBe('upstream_account');
    expect([under.sent.length, stateOf(under), restsOf(under)]).toEqual([1, ['a:ok'], ['a: refused acme sim-small']]);
    expect(under.accounts).toEqual([]);
    under.clock.advance(30_000);
    expect((await under.run()).code).toBe('upstream_account');
    under.clock.advance(30_000);
    expect((await under.run()).code).toBe('ok');
    expect(under.accounts).toMatchObject([
      { to: 'refused', tenant: 'acme', model: 'sim-small', status: 403 },
      { to: 'accepted', tenant: 'acme', model: 'sim-small' },
    ]);
    expect([restsOf(under), under.breakers.report()[0]?.calls]).toEqual([[], 1]);
  });

  it('is passed over for another account of the same provider, in the same call', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 401 }, OK], secondary: [OK] }, TWO);
    const { code, call } = await under.run();
    expect([code, call.fallbackReason]).toEqual(['ok', undefined]);
    expect(under.sent.map(({ provider, secret: used }) => `${provider}:${used}`)).toEqual([
      'primary:SLUICE_SECRET_A',
      'primary:SLUICE_SECRET_B',
    ]);
    expect(under.sent[1]?.atMs).toBe(0);
  });

  it('gives the place of a probe back when the provider fails for another reason', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 401 }, { status: 500 }, OK] }, (raw) => {
      ONE(raw);
      (raw.plans.team as { policy: Record<string, unknown> }).policy.retries = { maxAttempts: 1 };
    });
    await under.run();
    under.clock.advance(30_000);
    expect((await under.run()).code).toBe('upstream_unavailable');
    expect((await under.run()).code).toBe('ok');
  });

  it('for want of money is one that answers 429 with the code insufficient_quota', async () => {
    const reply: Reply = {
      status: 429,
      body: '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}',
    };
    const under = createAttemptUnderTest({ primary: [reply], secondary: [OK] }, ONE);
    const { code, call } = await under.run();
    expect([code, call.fallbackReason]).toEqual(['ok', 'error']);
    expect(stateOf(under)[0]).toBe('a:account_fault');
  });
});

it('a probe that would have to wait for a slot gives its place to others at once', async () => {
  const under = createAttemptUnderTest({ primary: [{ status: 401 }, OK] }, ONE);
  const { call } = await under.run();
  const entry = call.plan?.entries[0] as NonNullable<Call['plan']>['entries'][0];
  under.clock.advance(30_000);
  const pool = under.capacity.pick(entry, call.config.version, FRESH)?.pool as SlotPool;
  const owner = call.key?.workspace as NonNullable<Call['key']>['workspace'];
  const claim = {
    tenantId: owner.tenant.id,
    workspaceId: owner.workspace.uuid,
    priority: 'standard',
    costTokens: 1,
    maxSharePercent: 100,
    timeoutMs: 0,
  } as const;
  const held = Array.from({ length: 5 }, () => pool.acquire(claim) as SlotLease);
  expect(await under.run()).toMatchObject({ code: 'queue_timeout', tookMs: 0 });
  for (const slot of held) slot.release();
  expect((await under.run()).code).toBe('ok');
  expect(stateOf(under)).toEqual(['a:ok']);
});

it("a call larger than the account's whole rate ends alone: the account serves everybody else at once", async () => {
  const reply: Reply = {
    status: 429,
    body: '{"error":{"message":"Request too large for m in organization org-1 on tokens per min (TPM): Limit 1, Requested 2.","code":"rate_limit_exceeded"}}',
  };
  const under = createAttemptUnderTest({ primary: [reply, OK] }, ONE);
  const { code, call } = await under.run();
  expect([code, call.passThrough]).toEqual(['bad_request', undefined]);
  expect(stateOf(under)).toEqual(['a:ok']);
  expect((await under.run()).code).toBe('ok');
});

describe('a secret that is not there', () => {
  it('is named in the report, and its account is passed over, told once, until it is there', async () => {
    const under = createAttemptUnderTest({ primary: [OK], secondary: [OK] }, ONE);
    under.secrets.delete('SLUICE_SECRET_A');
    for (let i = 0; i < 3; i += 1) {
      const { code, call } = await under.run();
      expect([code, call.fallbackReason, call.answer?.attempt.provider.id]).toEqual(['ok', 'no_capacity', 'secondary']);
    }
    expect(under.accounts).toMatchObject([{ to: 'refused', provider: 'primary', credential: 'a', status: undefined }]);
    const { providers } = (await under.run()).call.config;
    expect(missingSecrets(providers.values(), { find: () => undefined, forget: () => undefined })).toEqual([
      { provider: 'primary', credential: 'a', secret: 'env:SLUICE_SECRET_A' },
    ]);
    under.secrets.add('SLUICE_SECRET_A');
    under.clock.advance(30_000);
    expect((await under.run()).call.answer?.attempt.provider.id).toBe('primary');
    expect(under.accounts.map(({ to }) => to)).toEqual(['refused', 'accepted']);
  });
});

describe('a rate limit', () => {
  it('rests the account that met it and no other', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 429, headers: { 'retry-after': '20' } }, OK] }, TWO);
    expect((await under.run()).code).toBe('ok');
    expect(restsOf(under)).toEqual(['a: limited acme sim-small']);
    await under.run();
    expect(under.sent.map(({ secret: used }) => used)).toEqual([
      'SLUICE_SECRET_A',
      'SLUICE_SECRET_B',
      'SLUICE_SECRET_B',
    ]);
    expect(under.accounts).toEqual([]);
    under.clock.advance(20_000);
    expect(restsOf(under)).toEqual([]);
  });

  it('sends the next calls on at once while it lasts, and says why', async () => {
    const under = createAttemptUnderTest(
      { primary: [{ status: 429, headers: { 'retry-after': '20' } }, OK], secondary: [OK] },
      ONE,
    );
    expect((await under.run()).call.fallbackReason).toBe('rate_limit');
    expect((await under.run()).call.fallbackReason).toBe('no_capacity');
    expect(under.passed).toEqual(['primary:rate_limit', 'primary:no_capacity']);
    expect(under.sent.filter(({ provider }) => provider === 'primary')).toHaveLength(1);
  });

  it('sends no call on where the policy does not fail over for it', async () => {
    const under = createAttemptUnderTest(
      { primary: [{ status: 429, headers: { 'retry-after': '20' } }, OK], secondary: [OK] },
      (raw) => {
        ONE(raw);
        (raw.plans.team as { policy: { routing: Record<string, unknown> } }).policy.routing.triggerOn = ['error'];
      },
    );
    for (let i = 0; i < 2; i += 1) expect((await under.run()).code).toBe('upstream_rate_limited');
    expect(under.sent).toHaveLength(1);
  });
});

describe('a size of an account that changes', () => {
  it('is in force at once, keeps who holds a slot, and an older configuration does not bring the old one back', async () => {
    const under = createAttemptUnderTest({ primary: [OK] }, ONE);
    const { call } = await under.run();
    const entry = call.plan?.entries[0];
    if (entry === undefined) throw new Error('no plan');
    const pool = under.capacity.pick(entry, 7, FRESH)?.pool;
    const bigger = { ...entry, credentials: entry.credentials.map((credential) => ({ ...credential, slots: 9 })) };
    const reserved = {
      ...entry,
      credentials: entry.credentials.map((credential) => ({
        ...credential,
        slots: 9,
        reserved: { priority: 'high' as const, slots: 9 },
      })),
    };
    expect(under.capacity.pick(bigger, 8, FRESH)?.pool).toBe(pool);
    expect(under.capacity.report()).toMatchObject([{ slots: 9 }]);
    under.capacity.pick(entry, 7, FRESH);
    expect([pool?.slots, under.capacity.report()[0]?.slots]).toEqual([9, 9]);
    under.capacity.pick(reserved, 9, FRESH);
    expect(await pool?.acquire({ tenantId: 't', workspaceId: 'w', priority: 'low', costTokens: 1, timeoutMs: 0 })).toBe(
      'timeout',
    );
  });
});
