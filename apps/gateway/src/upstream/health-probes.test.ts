import { createAdapterRegistry } from '@sluice/providers';
import { compiledSample } from '../testing/compiled-sample.ts';
import { createAttemptUnderTest, OK, type AttemptUnderTest, type Reply } from '../testing/attempt-under-test.ts';
import type { RawSnapshot } from '../testing/sample-snapshot.ts';
import { createHealthProbes } from './health-probes.ts';

const PROBE = { model: 'sim-small', intervalMs: 5_000, timeoutMs: 1_000 };
const probing =
  (more: object = {}) =>
  (raw: RawSnapshot) => {
    Object.assign(raw.providers.primary as object, {
      healthProbe: PROBE,
      breaker: { minimumCalls: 2, cooldownMs: 10_000, probes: 2 },
      ...more,
    });
    (raw.plans.team as { policy: Record<string, unknown> }).policy.retries = { maxAttempts: 1 };
  };
const breakerOf = (under: AttemptUnderTest) => under.breakers.report().find(({ provider }) => provider === 'primary');

async function pass(under: AttemptUnderTest, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i += 1) {
    const sent = under.probes.tick();
    await new Promise((resolve) => setImmediate(resolve));
    under.clock.advance(1_000);
    await sent;
  }
}

describe('an active probe', () => {
  it('is made by no provider that does not ask for it', async () => {
    const under = createAttemptUnderTest({ primary: [OK], secondary: [OK] });
    await pass(under, 60);
    expect(under.sent).toEqual([]);
  });

  it('is one small call per interval, marked as nobody, by the secret of a shared account', async () => {
    const credentials = [
      { id: 'acmes', slots: 5, weight: 9, tenants: ['acme'], secret: { kind: 'env', name: 'SLUICE_SECRET_A' } },
      { id: 'shared', slots: 5, secret: { kind: 'env', name: 'SLUICE_SECRET_B' } },
    ];
    const under = createAttemptUnderTest({ primary: [OK] }, probing({ credentials }));
    await pass(under, 11);
    expect(
      under.sent.map(({ atMs, provider, secret, tenantMarker }) => [atMs, provider, secret, tenantMarker]),
    ).toEqual(
      [0, 5_000, 10_000].map((atMs) => [atMs, 'primary', 'SLUICE_SECRET_B', '00000000-0000-0000-0000-000000000000']),
    );
    expect(JSON.parse(under.sent[0]?.body ?? '')).toEqual({
      model: 'sim-small-v1',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'ping' }],
    });
    expect(under.capacity.report()).toMatchObject([{ in_use: 0 }]);
  });

  it('closes an open breaker without a call of a customer', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 500 }, { status: 500 }, OK] }, probing());
    for (let i = 0; i < 2; i += 1) expect((await under.run()).code).toBe('upstream_unavailable');
    expect(breakerOf(under)?.state).toBe('open');
    await pass(under, 8);
    // The gateway's own calls are served by now, so it is not the provider as a whole.
    expect(breakerOf(under)).toMatchObject({ state: 'partly_open', tenants: 1, tenants_open: 1, open_for: ['acme'] });
    await pass(under, 4);
    expect(breakerOf(under)).toMatchObject({ state: 'closed', tenants: 1, tenants_open: 0 });
    expect(under.probed).toEqual(['primary:ok', 'primary:ok', 'primary:ok']);
  });

  it('opens the breaker of a provider that nobody calls, and keeps it open while it is down', async () => {
    const under = createAttemptUnderTest({ primary: ['silence'] }, probing());
    await pass(under, 40);
    expect(breakerOf(under)?.state).not.toBe('closed');
    expect(new Set(under.probed)).toEqual(new Set(['primary:failed', 'primary:skipped']));
    expect(under.clock.pendingTimers()).toBe(0);
  });

  it.each([
    ['a refusal of the request', { status: 400 }],
    ['a rate limit', { status: 429 }],
    ['a refused account', { status: 401 }],
  ] as [string, Reply][])('gives no verdict by %s', async (_what, reply) => {
    const under = createAttemptUnderTest({ primary: [reply] }, probing());
    await pass(under, 1);
    expect(under.probed).toEqual(['primary:refused']);
    expect(breakerOf(under)?.calls).toBe(0);
  });

  it('brings a refused account back', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 401 }, OK] }, probing());
    expect((await under.run()).code).toBe('upstream_account');
    await pass(under, 36);
    expect(under.accounts.map(({ to }) => to)).toEqual(['refused', 'accepted']);
  });

  it('takes no slot from a customer: it is left out while there is none', async () => {
    const under = createAttemptUnderTest({ primary: [OK] }, probing({ credentials: [{ id: 'a', slots: 1 }] }));
    const { call } = await under.run();
    const entry = call.plan?.entries[0];
    const slot =
      entry === undefined
        ? undefined
        : under.capacity
            .pick(entry, 7, { tenantId: 't', tokens: 1, mayWaitMs: 0 })
            ?.pool.acquire({ tenantId: 't', workspaceId: 'w', priority: 'low', costTokens: 1, timeoutMs: 0 });
    await pass(under, 1);
    expect(under.probed).toEqual(['primary:skipped']);
    if (slot !== undefined && 'release' in slot) slot.release();
    await pass(under, 5);
    expect(under.probed).toEqual(['primary:skipped', 'primary:ok']);
  });

  it('that cannot be written holds no slot, however often it is tried', async () => {
    const under = createAttemptUnderTest({ primary: [OK] });
    const config = compiledSample(probing({ credentials: [{ id: 'a', slots: 2 }] }));
    const adapter = createAdapterRegistry().get('openai');
    const results: string[] = [];
    const probes = createHealthProbes({
      ...under,
      currentConfig: () => config,
      adapters: () => ({
        ...(adapter as NonNullable<typeof adapter>),
        buildRequest: () => {
          throw new TypeError('no such header');
        },
      }),
      transport: {
        send: () => {
          throw new Error('not sent');
        },
        close: () => Promise.resolve(),
      },
      secrets: { find: () => 'secret', forget: () => undefined },
      onAccount: () => undefined,
      onResult: (_provider, result) => results.push(result),
    });
    for (let i = 0; i < 3; i += 1) {
      await probes.tick();
      under.clock.advance(PROBE.intervalMs);
    }
    expect(results).toEqual(['failed', 'failed', 'failed']);
    expect(under.capacity.report().filter(({ in_use: inUse }) => inUse > 0)).toEqual([]);
    expect(breakerOf(under)?.state ?? 'closed').toBe('closed');
  });
});
