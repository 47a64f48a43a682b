import { zeroUsage, type CallSettled, type LimitScope, type QuotaWindow } from '@sluice/contracts';
import { createMemoryLimitStore } from '@sluice/limits';
import { createFakeClock, eventually } from '@sluice/testing';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAKE_WORKSPACE as WORKSPACE, FakeLedger as Ledger } from '../testing/fake-ledger.ts';
import { createFoundedLimits } from './founded-limits.ts';
import { createLedgerAudit } from './ledger-audit.ts';
import { createQuotaKeeper } from './quota-keeper.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const END = Date.parse('2026-12-01T00:00:00Z');

const monthly: QuotaWindow = {
  id: 'monthly',
  meter: 'total_tokens',
  limit: 1e9,
  mode: 'hard',
  alertAtPercent: [],
  span: { kind: 'calendar', period: 'month' },
};

interface Plan {
  readonly tenant?: readonly QuotaWindow[];
  readonly workspace?: readonly QuotaWindow[];
  readonly timeZone?: string;
}
const scopeOf = ({ tenant = [], workspace = [], timeZone = 'UTC' }: Plan): LimitScope => ({
  tenantId: 'acme',
  timeZone,
  levels: [
    { level: 'tenant', id: 'acme', limits: { quotas: [...tenant] } },
    { level: 'workspace', id: WORKSPACE, limits: { quotas: [...workspace] } },
  ],
});

const dirs: string[] = [];
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

async function gateway(ledger = new Ledger(), clock = createFakeClock(NOW), dir = folder(), epoch = 10) {
  const store = createMemoryLimitStore({ clock });
  const fail = (error: unknown): void => {
    throw error;
  };
  const keeper = createQuotaKeeper({ dir, limits: store, onFault: fail });
  let scope = scopeOf({ tenant: [monthly] });
  await keeper.restore(ledger.records.slice(ledger.holds), () => scope, { epoch, firstOnDisk: new Map() });
  const audit = createLedgerAudit({
    limits: store,
    ledger: { audit: ledger.audit, corrections: ledger.counts },
    gatewayId: 'gw-1',
    clock,
    counted: keeper.countedCalls,
    waitMs: 2_000,
    askAgainMs: 5,
    notHeldMs: 2,
  });
  stops.push(audit.stop);
  const limits = createFoundedLimits(store, audit);
  let sequence = 0;
  /** Recorded at once; the returned step settles it. */
  const begin = async (tokens: number) => {
    const result = await limits.admit({
      leaseId: `req-${epoch}-${sequence}`,
      scope,
      reservation: { inputTokens: 1, outputTokens: 0, costNanoUsd: 0 },
    });
    if (!result.admitted) return result;
    const usage = { ...zeroUsage(), input: tokens };
    const origin = { gateway_id: 'gw-1', epoch, sequence: (sequence += 1) };
    const atMs = clock.now();
    ledger.records.push({
      ...origin,
      occurred_at: new Date(atMs).toISOString(),
      usage,
      billed_nanousd: 3 * tokens,
      tenant_id: 'acme',
    } as CallSettled);
    return {
      ...result,
      settle: () => {
        void store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 3 * tokens, origin, atMs });
        keeper.counted(origin.epoch, origin.sequence);
      },
    };
  };
  const call = async (tokens: number) => {
    const result = await begin(tokens);
    if ('settle' in result) result.settle();
    return result;
  };
  return {
    ledger,
    clock,
    store,
    keeper,
    audit,
    begin,
    call,
    under: (plan: Plan) => void (scope = scopeOf(plan)),
    used: async () =>
      Object.fromEntries(
        (await limits.view(scope)).quotas.map(({ level, window, used }) => [`${level} ${window}`, used]),
      ),
    usedNow: () => store.view(scope).quotas[0]?.used,
  };
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledger-audit-'));
  dirs.push(dir);
  return dir;
}

const limit = 5_000;
const day: QuotaWindow = { ...monthly, id: 'day', span: { kind: 'calendar', period: 'day' } };

describe('a window that is made while its period runs, after 5,000 tokens', () => {
  it.each<[string, Plan]>([
    ['under a new id', { tenant: [{ ...monthly, id: 'other', limit }] }],
    ['with another meter', { tenant: [{ ...monthly, meter: 'input_tokens', limit }] }],
    ['of money', { tenant: [{ ...monthly, meter: 'cost_nanousd', limit: 3 * limit }] }],
    ['by a new plan', { tenant: [], workspace: [{ ...monthly, id: 'plan', limit }] }],
    ['in another zone', { tenant: [{ ...monthly, limit }], timeZone: 'Asia/Tokyo' }],
    ['over another span', { tenant: [{ ...monthly, limit, span: { kind: 'rolling', seconds: 86_400, steps: 24 } }] }],
    ['as an overage cap beside the plan', { tenant: [monthly, { ...monthly, id: 'overage-cap', limit }] }],
    ['by a plan that the workspace moves to', { tenant: [monthly], workspace: [{ ...day, limit }] }],
  ])('%s has used 5,000, and the next call is refused', async (_what, plan) => {
    const one = await gateway();
    for (let n = 0; n < 5; n += 1) await one.call(1_000);
    one.ledger.holds = one.ledger.records.length;
    one.under(plan);
    const next = await one.call(1);
    expect(next).toMatchObject({ admitted: false, refusal: { kind: 'quota' } });
    expect(Object.values(await one.used())).toContain(plan.tenant?.[0]?.meter === 'cost_nanousd' ? 15_000 : 5_000);
  });

  it('waits for what is on its way to the ledger, and counts calls in flight when they end', async () => {
    const one = await gateway();
    await one.call(1_000);
    const slow = await one.begin(500);
    one.under({ tenant: [monthly, { ...monthly, id: 'new' }] });
    const next = one.call(1);
    setTimeout(() => one.ledger.takeAll(), 20);
    expect((await next).admitted).toBe(true);
    expect(await one.used()).toEqual({ 'tenant monthly': 1_002, 'tenant new': 1_001 });
    if ('settle' in slow) slow.settle();
    expect(await one.used()).toMatchObject({ 'tenant new': 1_501 });
    await one.audit.settled();
    expect(await one.used()).toMatchObject({ 'tenant new': 1_501 });
  });

  it('holds at any moment exactly the calls that were recorded, whatever is in flight, in the outbox and in the ledger', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('call' as const), tokens: fc.integer({ min: 1, max: 99 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('slow' as const), tokens: fc.integer({ min: 1, max: 99 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constantFrom('settle' as const, 'ingest' as const, 'window' as const) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const one = await gateway();
        const slow: (() => void)[] = [];
        let windows = 0;
        for (const todo of steps) {
          if (todo.kind === 'call') await one.call(todo.tokens);
          else if (todo.kind === 'slow') {
            const begun = await one.begin(todo.tokens);
            if ('settle' in begun) slow.push(begun.settle);
          } else if (todo.kind === 'settle') slow.pop()?.();
          else if (todo.kind === 'ingest')
            one.ledger.holds += Math.ceil((one.ledger.records.length - one.ledger.holds) / 2);
          else {
            windows += 1;
            one.ledger.holds = one.ledger.records.length;
            one.under({ tenant: [{ ...monthly, id: `w${windows}` }, monthly] });
          }
        }
        for (const settle of slow) settle();
        one.ledger.holds = one.ledger.records.length;
        const used = await one.used();
        await one.audit.settled();
        expect(await one.used()).toEqual(used);
        for (const value of Object.values(used)) expect(value).toBe(one.ledger.month(NOW));
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('while the ledger does not answer', () => {
  it('calls go on at once by what the gateway knows, and the window is put right when it answers', async () => {
    const one = await gateway();
    await one.call(5_000);
    one.ledger.holds = 1;
    one.ledger.down = true;
    one.under({ tenant: [{ ...monthly, id: 'new', limit }] });
    expect((await one.call(7)).admitted).toBe(true);
    expect(await one.used()).toEqual({ 'tenant new': 7 });
    one.ledger.holds = 2;
    one.ledger.down = false;
    await eventually(() => expect(one.usedNow()).toBe(5_007));
    expect((await one.call(1)).admitted).toBe(false);
  });

  it('a ledger that lags shows at least what it holds, and takes nothing away', async () => {
    const one = await gateway();
    await one.call(3_000);
    one.ledger.holds = 1;
    await one.call(2_000);
    one.under({ tenant: [{ ...monthly, id: 'new', limit }, monthly] });
    const next = one.call(1);
    await eventually(() => expect(one.usedNow()).toBe(3_000));
    one.ledger.takeAll();
    expect((await next).admitted).toBe(false);
    expect(await one.used()).toEqual({ 'tenant new': 5_000, 'tenant monthly': 5_000 });
  });
});

describe('a correction in the ledger', () => {
  it('reaches the counters and lifts the lock-out, in the checkpoint too', async () => {
    const dir = folder();
    const one = await gateway(new Ledger(), createFakeClock(NOW), dir);
    one.under({
      tenant: [
        { ...monthly, limit },
        { ...day, limit: 1e10 },
      ],
    });
    await one.call(2e9);
    one.ledger.takeAll();
    expect((await one.call(1)).admitted).toBe(false);
    one.ledger.corrections.push({ atMs: one.clock.now(), callAtMs: one.clock.now(), tokens: -2e9 + 300 });
    await one.audit.pollCorrections();
    await one.audit.settled();
    expect(await one.used()).toEqual({ 'tenant monthly': 300, 'tenant day': 300 });
    expect((await one.call(1)).admitted).toBe(true);
    await one.keeper.save();
    one.ledger.takeAll();
    const { asked } = one.ledger;
    const again = await gateway(one.ledger, one.clock, dir, 20);
    again.under({ tenant: [{ ...monthly, limit }] });
    expect(await again.used()).toEqual({ 'tenant monthly': 301 });
    expect(one.ledger.asked).toBe(asked);
  });

  it('takes nothing away from a window while the ledger does not hold all calls that are in it', async () => {
    const one = await gateway();
    await one.call(3_000);
    one.ledger.takeAll();
    await one.audit.settled();
    await one.call(2_000);
    one.ledger.corrections.push({ atMs: NOW, callAtMs: NOW, tokens: 10 });
    const { asked } = one.ledger;
    await one.audit.pollCorrections();
    await eventually(() => expect(one.ledger.asked).toBeGreaterThan(asked + 1));
    expect(one.usedNow()).toBe(5_000);
    one.ledger.takeAll();
    await one.audit.settled();
    expect(one.usedNow()).toBe(5_010);
  });

  it('of a level that no call has named since the start is taken in once one has', async () => {
    const dir = folder();
    const first = await gateway(new Ledger(), createFakeClock(NOW), dir);
    await first.call(1_000);
    first.ledger.takeAll();
    await first.used();
    await first.keeper.save();
    first.ledger.corrections.push({ atMs: NOW, callAtMs: NOW, tokens: -400 });
    const second = await gateway(first.ledger, first.clock, dir, 20);
    await second.audit.pollCorrections();
    expect(second.usedNow()).toBe(1_000);
    await second.audit.pollCorrections();
    await second.audit.settled();
    expect(second.usedNow()).toBe(600);
  });
});

describe('a clock that is set an hour ahead over the end of the month, and back', () => {
  it('loses nothing: the counters of both months are what the ledger holds', async () => {
    const one = await gateway(new Ledger(), createFakeClock(END - 60_000));
    await one.call(1_000);
    one.clock.step(3_600_000);
    one.audit.tick();
    await one.call(70);
    one.ledger.takeAll();
    await one.audit.settled();
    one.clock.step(-3_600_000);
    await one.call(5);
    one.ledger.takeAll();
    one.audit.tick();
    await one.audit.settled();
    expect(one.usedNow()).toBe(one.ledger.month(END - 1));
    expect(one.usedNow()).toBe(1_005);
    one.clock.advance(120_000);
    expect(one.usedNow()).toBe(70);
    expect(one.usedNow()).toBe(one.ledger.month(END));
  });

  it('is put right from the ledger where the process began while the clock was wrong', async () => {
    const dir = folder();
    const ledger = new Ledger();
    const first = await gateway(ledger, createFakeClock(END - 60_000), dir);
    await first.call(1_000);
    ledger.takeAll();
    first.clock.step(3_600_000);
    await first.call(70);
    ledger.takeAll();
    await first.keeper.save();
    // The checkpoint was written in the future; the next process has the right time again.
    const second = await gateway(ledger, createFakeClock(END - 30_000), dir, 20);
    expect(await second.used()).toEqual({ 'tenant monthly': 1_000 });
    second.clock.advance(60_000);
    expect(await second.used()).toEqual({ 'tenant monthly': 70 });
  });

  it('counts a call whose record and end stand on the two sides of the end in the month of its record', async () => {
    const one = await gateway(new Ledger(), createFakeClock(END - 10));
    const slow = await one.begin(100);
    one.clock.advance(20);
    if ('settle' in slow) slow.settle();
    one.ledger.takeAll();
    expect(await one.used()).toEqual({ 'tenant monthly': 0 });
    expect(one.ledger.month(one.clock.now())).toBe(0);
  });
});
