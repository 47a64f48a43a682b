import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { CallSettled, LimitScope, QuotaWindow } from '@sluice/contracts';
import { createValkeyLimitStore, type TierLimitStore } from '@sluice/limits';
import { createFakeClock, eventually, startRedis, type FakeClock, type RedisServer } from '@sluice/testing';
import { createQuotaKeeper, type QuotaKeeper } from './quota-keeper.ts';

const month: QuotaWindow = {
  id: 'month',
  meter: 'total_tokens',
  limit: 1e9,
  mode: 'hard',
  alertAtPercent: [],
  span: { kind: 'calendar', period: 'month' },
};
const hour: QuotaWindow = {
  ...month,
  id: 'hour',
  meter: 'output_tokens',
  span: { kind: 'rolling', seconds: 3_600, steps: 12 },
};
const scopes = ['a', 'b'].map((key): LimitScope => ({
  tenantId: 't',
  timeZone: 'UTC',
  levels: [
    { level: 'tenant', id: 't', limits: { quotas: [month] } },
    { level: 'key', id: key, limits: { quotas: [hour, month] } },
  ],
}));
/** So far apart that nothing is reported but where the test says so. */
const NEVER_MS = 1e9;

let server: RedisServer;
let cells = 0;
const opened: TierLimitStore[] = [];
const dirs: string[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});
afterAll(async () => {
  await server.stop();
});

/** A gateway that is killed and started again at will: its outbox and its folder stay. */
class Killable {
  readonly clock: FakeClock = createFakeClock(Date.UTC(2026, 0, 15, 11, 59));
  readonly outbox: CallSettled[] = [];
  readonly #dir = mkdtempSync(join(tmpdir(), 'quota-'));
  readonly #cellId = `cell-${++cells}`;
  readonly #unsettled: (() => Promise<void>)[] = [];
  #epoch = 100;
  #sequence = 0;
  store: TierLimitStore;
  keeper: QuotaKeeper;

  constructor() {
    dirs.push(this.#dir);
    this.store = this.open('gw-1');
    this.keeper = this.#keep();
  }

  open(gatewayId: string): TierLimitStore {
    const { clock } = this;
    const store = createValkeyLimitStore({
      url: server.url,
      cellId: this.#cellId,
      gatewayId,
      life: this.#epoch,
      clock,
      serverTime: () => clock.now(),
      flushMs: NEVER_MS,
      commandTimeoutMs: 1_000,
      reconnectJitterMs: 20,
    });
    opened.push(store);
    return store;
  }

  #keep(): QuotaKeeper {
    return createQuotaKeeper({
      dir: this.#dir,
      limits: this.store,
      onFault: (error) => {
        throw error;
      },
    });
  }

  async boot(): Promise<void> {
    await this.keeper.restore(this.outbox, ({ key_id }) => scopes.find(({ levels }) => levels[1]?.id === key_id), {
      epoch: this.#epoch,
      firstOnDisk: new Map(),
    });
  }

  /** Recorded at once; settled at once or, as with a slow reader, when `settleAll` is called. */
  async call(key: number, tokens: number, slow = false): Promise<void> {
    const scope = scopes[key] as LimitScope;
    const { store, keeper, clock } = this;
    const admitted = await store.admit({
      leaseId: `req-${this.#epoch}-${this.#sequence}`,
      scope,
      reservation: { inputTokens: 5, outputTokens: 5, costNanoUsd: 0 },
    });
    if (!admitted.admitted) throw new Error('refused');
    const usage = { input: tokens, output: 2 * tokens, cache_read: 0, cache_write: 0, reasoning: 0, audio: 0 };
    const origin = { gateway_id: 'gw-1', epoch: this.#epoch, sequence: ++this.#sequence };
    this.outbox.push({
      ...origin,
      key_id: scope.levels[1]?.id,
      usage,
      billed_nanousd: 0,
      occurred_at: new Date(clock.now()).toISOString(),
    } as CallSettled);
    const settle = async (): Promise<void> => {
      await store.settle(admitted.lease, { kind: 'used', usage, costNanoUsd: 0, origin });
      keeper.counted(origin.epoch, origin.sequence);
    };
    if (slow) this.#unsettled.push(settle);
    else await settle();
  }

  async settleAll(): Promise<void> {
    for (const settle of this.#unsettled.splice(0)) await settle();
  }

  report(): Promise<unknown> {
    return Promise.all(scopes.map((scope) => this.store.view(scope)));
  }

  /** The process is gone with all that it had not told, and another begins on its disk. */
  async killAndBoot(): Promise<void> {
    this.#unsettled.length = 0;
    await this.store.quiet();
    this.#epoch += 10;
    this.#sequence = 0;
    this.store = this.open('gw-1');
    this.keeper = this.#keep();
    await this.boot();
  }

  /** What another gateway sees as used in each window, once nothing is lent any more. */
  async seenByAnother(): Promise<Record<string, number>> {
    await this.report();
    this.clock.advance(10_001);
    const other = this.open('gw-2');
    const seen: Record<string, number> = {};
    for (const scope of scopes)
      for (const { level, id, window, used } of (await other.view(scope)).quotas)
        seen[`${level} ${id} ${window}`] = used;
    return seen;
  }

  /** The same by the recorded calls. */
  recorded(): Record<string, number> {
    const sum = (key: string | undefined, of: (usage: CallSettled['usage']) => number): number =>
      this.outbox
        .filter(({ key_id }) => key === undefined || key_id === key)
        .reduce((total, { usage }) => total + of(usage), 0);
    const all = (usage: CallSettled['usage']): number => usage.input + usage.output;
    return {
      'tenant t month': sum(undefined, all),
      'key a hour': sum('a', ({ output }) => output),
      'key a month': sum('a', all),
      'key b hour': sum('b', ({ output }) => output),
      'key b month': sum('b', all),
    };
  }
}

const connected = (store: TierLimitStore): Promise<void> =>
  eventually(() => expect(store.status.state).toBe('connected'));

describe('a gateway with shared counters that is killed', () => {
  it('between report and checkpoint counts nothing twice, and between checkpoint and report loses nothing', async () => {
    const gateway = new Killable();
    await gateway.boot();
    await gateway.call(0, 100);
    await gateway.report();
    await gateway.killAndBoot();
    await gateway.call(1, 1_000);
    await gateway.keeper.save();
    await gateway.killAndBoot();
    expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
    expect(gateway.recorded()).toMatchObject({ 'tenant t month': 3_300 });
  });

  it('again and again before its first call of a new life counts nothing twice', async () => {
    const gateway = new Killable();
    await gateway.boot();
    await gateway.call(0, 100);
    for (let life = 0; life < 3; life++) {
      await gateway.killAndBoot();
      await gateway.report();
    }
    expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
  });

  it('at any moment, often, with calls that end out of order: the counters are the sum of its records', async () => {
    const call = fc.record({
      kind: fc.constant('call' as const),
      key: fc.nat(1),
      tokens: fc.integer({ min: 1, max: 1_000 }),
      slow: fc.boolean(),
    });
    const other = fc.record({
      kind: fc.constantFrom('report' as const, 'save' as const, 'kill' as const, 'settle' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 2, arbitrary: call }, { weight: 3, arbitrary: other }), { maxLength: 25 }),
        async (steps) => {
          const gateway = new Killable();
          await gateway.boot();
          for (const step of steps) {
            gateway.clock.advance(7);
            if (step.kind === 'call') await gateway.call(step.key, step.tokens, step.slow);
            else if (step.kind === 'report') await gateway.report();
            else if (step.kind === 'save') await gateway.keeper.save();
            else if (step.kind === 'settle') await gateway.settleAll();
            else await gateway.killAndBoot();
          }
          await gateway.settleAll();
          expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
          await Promise.all(opened.splice(0).map((store) => store.close()));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('and whose last report comes after its next process has asked what was counted, is refused that report', async () => {
    const gateway = new Killable();
    await gateway.boot();
    await gateway.call(0, 100);
    const dead = gateway.store;
    await gateway.killAndBoot();
    await gateway.report();
    for (const scope of scopes) await dead.view(scope);
    expect(dead.status.state).toBe('degraded');
    expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
  });

  it('while the server is away adds exactly what it had not reported when the server is back', async () => {
    const gateway = new Killable();
    await gateway.boot();
    await gateway.call(0, 100);
    await gateway.report();
    server.pause();
    try {
      await gateway.report();
      expect(gateway.store.status.state).toBe('degraded');
      await gateway.call(0, 10);
      await gateway.keeper.save();
      await gateway.call(1, 1);
      await gateway.killAndBoot();
      await gateway.call(1, 2);
      expect(gateway.store.status.state).toBe('degraded');
    } finally {
      server.resume();
    }
    await connected(gateway.store);
    expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
  });

  it('together with a server that lost its data brings back what its checkpoint and its records hold', async () => {
    const gateway = new Killable();
    await gateway.boot();
    await gateway.call(0, 100);
    await gateway.report();
    await gateway.keeper.save();
    await gateway.call(1, 10);
    await gateway.report();
    await server.kill();
    await server.restart();
    await gateway.killAndBoot();
    await connected(gateway.store);
    expect(await gateway.seenByAnother()).toEqual(gateway.recorded());
  });
});
