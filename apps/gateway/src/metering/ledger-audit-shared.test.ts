import { zeroUsage, type CallSettled, type LimitScope, type QuotaWindow } from '@sluice/contracts';
import { createValkeyLimitStore, type TierLimitStore } from '@sluice/limits';
import { createFakeClock, eventually, startRedis, type RedisServer } from '@sluice/testing';
import { FakeLedger } from '../testing/fake-ledger.ts';
import { createFoundedLimits } from './founded-limits.ts';
import { createLedgerAudit } from './ledger-audit.ts';

const monthly: QuotaWindow = {
  id: 'monthly',
  meter: 'total_tokens',
  limit: 1e9,
  mode: 'hard',
  alertAtPercent: [],
  span: { kind: 'calendar', period: 'month' },
};
const limit = 5_000;
const scopeOf = (quotas: readonly QuotaWindow[], timeZone = 'UTC'): LimitScope => ({
  tenantId: 'acme',
  timeZone,
  levels: [{ level: 'tenant', id: 'acme', limits: { quotas: [...quotas] } }],
});

let server: RedisServer;
let cells = 0;
const closes: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});
afterAll(async () => {
  await server.stop();
});

/** Two gateways with one ledger and one server, both connected: before that each would count by its local share. */
async function cell(startMs: number) {
  const clock = createFakeClock(startMs);
  const ledger = new FakeLedger();
  const cellId = `audited-${++cells}`;
  let scope = scopeOf([monthly]);
  const gateway = (gatewayId: string) => {
    const store: TierLimitStore = createValkeyLimitStore({
      url: server.url,
      cellId,
      gatewayId,
      clock,
      serverTime: () => clock.now(),
      flushMs: 1e9,
      leaseShare: 0,
      commandTimeoutMs: 3_000,
    });
    const audit = createLedgerAudit({
      limits: store,
      ledger: { audit: ledger.audit, corrections: ledger.counts },
      gatewayId,
      clock,
      counted: () => ({ epoch: 10, runs: [], earlier: [] }),
      waitMs: 5_000,
      askAgainMs: 5,
      notHeldMs: 2,
    });
    closes.push(audit.stop, () => store.close());
    const limits = createFoundedLimits(store, audit);
    let sequence = 0;
    return {
      audit,
      store,
      async call(tokens: number, settle = true) {
        const result = await limits.admit({
          leaseId: `${gatewayId}-${sequence}`,
          scope,
          reservation: { inputTokens: 1, outputTokens: 0, costNanoUsd: 0 },
        });
        if (!result.admitted) return { refused: true as const, end: async () => undefined };
        const origin = { gateway_id: gatewayId, epoch: 10, sequence: (sequence += 1) };
        const usage = { ...zeroUsage(), input: tokens };
        const atMs = clock.now();
        ledger.records.push({
          ...origin,
          occurred_at: new Date(atMs).toISOString(),
          usage,
          billed_nanousd: 0,
        } as CallSettled);
        const end = async () => {
          await store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 0, origin, atMs });
          await store.view(scope);
        };
        if (settle) await end();
        return { refused: false as const, end };
      },
      used: async () => (await limits.view(scope)).quotas.map(({ used }) => used),
    };
  };
  const [a, b] = [gateway('gw-a'), gateway('gw-b')];
  await eventually(() => expect([a, b].map(({ store }) => store.status.state)).toEqual(['connected', 'connected']));
  return { clock, ledger, a, b, under: (next: LimitScope) => void (scope = next) };
}

const NOW = Date.parse('2026-11-15T12:00:00Z');
const END = Date.parse('2026-12-01T00:00:00Z');

describe('counters that gateways share', () => {
  it.each<[string, LimitScope]>([
    ['under a new id', scopeOf([{ ...monthly, id: 'other', limit }])],
    ['with another meter', scopeOf([{ ...monthly, meter: 'input_tokens', limit }])],
    ['in another zone', scopeOf([{ ...monthly, limit }], 'Asia/Tokyo')],
    ['over another span', scopeOf([{ ...monthly, limit, span: { kind: 'rolling', seconds: 86_400, steps: 24 } }])],
    ['as an overage cap beside the plan', scopeOf([monthly, { ...monthly, id: 'overage-cap', limit }])],
  ])('of a window that is made %s after 5,000 tokens start from them at every gateway', async (_what, next) => {
    const { ledger, a, b, under } = await cell(NOW);
    for (let n = 0; n < 5; n += 1) await (n % 2 ? a : b).call(1_000);
    ledger.takeAll();
    under(next);
    expect((await a.call(1)).refused).toBe(true);
    expect((await b.call(1)).refused).toBe(true);
    expect(await b.used()).toContain(5_000);
  });

  it('count each call once that runs, that another gateway has not reported, or that the ledger does not hold yet', async () => {
    const { ledger, a, b, under } = await cell(NOW);
    await a.call(1_000);
    await b.call(200);
    const running = await b.call(30, false);
    ledger.takeAll();
    under(scopeOf([{ ...monthly, id: 'new' }, monthly]));
    await a.call(4);
    await running.end();
    ledger.takeAll();
    await b.call(500);
    await Promise.all([a.audit.settled(), b.audit.settled()]);
    expect(await a.used()).toEqual([1_734, 1_734]);
    expect(await b.used()).toEqual([1_734, 1_734]);
  });

  it('hold a call that ends at a gateway just before it hears of a window which another has made', async () => {
    const { ledger, a, b, under } = await cell(NOW);
    await a.call(1_000);
    await b.call(200);
    const running = await b.call(30, false);
    ledger.takeAll();
    under(scopeOf([{ ...monthly, id: 'new' }, monthly]));
    await a.call(4);
    ledger.takeAll();
    const [, used] = await Promise.all([running.end(), b.used()]);
    expect(used).toEqual([1_234, 1_234]);
    expect(await a.used()).toEqual([1_234, 1_234]);
  });

  it('take in a correction once, whichever gateways hear of it, and lift the lock-out', async () => {
    const { clock, ledger, a, b, under } = await cell(NOW);
    under(scopeOf([{ ...monthly, limit }]));
    await a.call(2e9);
    ledger.takeAll();
    expect((await b.call(1)).refused).toBe(true);
    ledger.corrections.push({ atMs: clock.now(), callAtMs: clock.now(), tokens: -2e9 + 300 });
    await Promise.all([a.audit.pollCorrections(), b.audit.pollCorrections()]);
    await Promise.all([a.audit.settled(), b.audit.settled()]);
    expect(await a.used()).toEqual([300]);
    expect((await b.call(1)).refused).toBe(false);
  });

  it('lose nothing when the clock of server and gateways is set an hour ahead over the end of the month, and back', async () => {
    const { clock, ledger, a, b } = await cell(END - 60_000);
    await a.call(1_000);
    clock.step(3_600_000);
    await b.call(70);
    clock.step(-3_600_000);
    await a.call(5);
    ledger.takeAll();
    expect(await b.used()).toEqual([1_005]);
    clock.advance(120_000);
    expect(await a.used()).toEqual([70]);
    expect(ledger.month(END - 1)).toBe(1_005);
    expect(ledger.month(END)).toBe(70);
  });
});
