import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  inputTokens,
  outputTokens,
  type CallSettled,
  type LimitLevel,
  type LimitScope,
  type QuotaUse,
  type QuotaUseRequest,
  type QuotaWindow,
} from '@sluice/contracts';
import { createMemoryLimitStore, windowSpan, type MemoryLimitStore } from '@sluice/limits';
import { createFakeClock } from '@sluice/testing';
import { createLedgerUse } from './ledger-use.ts';
import { createQuotaKeeper, type QuotaKeeper } from './quota-keeper.ts';

const hour: QuotaWindow = {
  id: 'hour',
  meter: 'output_tokens',
  limit: 1e9,
  mode: 'hard',
  alertAtPercent: [],
  span: { kind: 'rolling', seconds: 3_600, steps: 12 },
};
const odd: QuotaWindow = {
  ...hour,
  id: 'odd',
  meter: 'input_tokens',
  span: { kind: 'rolling', seconds: 1_000, steps: 13 },
};
const day: QuotaWindow = { ...hour, id: 'day', meter: 'total_tokens', span: { kind: 'calendar', period: 'day' } };
const month: QuotaWindow = {
  ...hour,
  id: 'month',
  meter: 'cost_nanousd',
  span: { kind: 'calendar', period: 'month', timeZone: 'Asia/Kathmandu' },
};

/** Two tenants; the first has two workspaces; each workspace two keys. */
const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
const scopes: LimitScope[] = [0, 1, 2].flatMap((workspace) =>
  [0, 1].map((key): LimitScope => {
    const tenant = workspace < 2 ? 'acme' : 'globex';
    const level = (name: LimitLevel['level'], id: string, quotas: QuotaWindow[]): LimitLevel => ({
      level: name,
      id,
      limits: { quotas },
    });
    return {
      tenantId: tenant,
      timeZone: tenant === 'acme' ? 'Europe/Berlin' : 'America/New_York',
      levels: [
        level('tenant', tenant, [day, month]),
        level('workspace', uuid(workspace), [hour, day]),
        level('key', `key0000${workspace}${key}`, [odd, hour]),
      ],
    };
  }),
);

interface World {
  readonly dir: string;
  readonly clock: ReturnType<typeof createFakeClock>;
  /**
   * Every call in the order of its record; `acknowledged` of them are in the ledger and no longer on disk,
   * `published` may be there too.
   */
  readonly calls: CallSettled[];
  acknowledged: number;
  published: number;
  epoch: number;
}

/** The ledger as the control plane answers for it. */
function answer(
  { calls, published, acknowledged }: World,
  { gateway_id, except, spans }: QuotaUseRequest,
): QuotaUse[][] {
  const held = calls
    .slice(0, Math.max(published, acknowledged))
    .filter(
      (call) =>
        call.gateway_id !== gateway_id ||
        !except.some(({ epoch, from }) => epoch === call.epoch && call.sequence >= from),
    );
  return spans.map(({ from_ms, step_ms }) => {
    const sums = new Map<string, QuotaUse>();
    for (const call of held) {
      const at = Date.parse(call.occurred_at);
      if (at < from_ms) continue;
      const at_ms = step_ms === undefined ? from_ms : Math.floor(at / step_ms) * step_ms;
      const id = `${call.key_id} ${at_ms}`;
      const sum = sums.get(id) ?? {
        tenant_id: call.tenant_id,
        workspace_id: call.workspace_id,
        key_id: call.key_id,
        at_ms,
        input_tokens: 0,
        output_tokens: 0,
        billed_nanousd: 0,
      };
      sum.input_tokens += inputTokens(call.usage);
      sum.output_tokens += outputTokens(call.usage);
      sum.billed_nanousd += call.billed_nanousd;
      sums.set(id, sum);
    }
    return [...sums.values()];
  });
}

interface Gateway {
  readonly limits: MemoryLimitStore;
  readonly keeper: QuotaKeeper;
  call(key: number, tokens: number): void;
}

async function boot(world: World, ledger: { down: boolean }, intoCounters?: MemoryLimitStore): Promise<Gateway> {
  const { clock, calls } = world;
  const limits = createMemoryLimitStore({ clock });
  const use = createLedgerUse({
    gatewayId: 'gw-1',
    clock,
    scopes: () => scopes,
    fetch: async (request) => {
      if (ledger.down) throw new Error('unreachable');
      return { spans: answer(world, request) };
    },
  });
  const keeper = createQuotaKeeper({
    dir: world.dir,
    limits,
    ledger: use,
    onFault: (error) => {
      throw error;
    },
  });
  const epoch = (world.epoch += 10);
  const onDisk = calls.slice(world.acknowledged);
  const firstOnDisk = new Map<number, number>();
  for (const call of onDisk) if (!firstOnDisk.has(call.epoch)) firstOnDisk.set(call.epoch, call.sequence);
  await keeper.restore(onDisk, (event) => scopes.find(({ levels }) => levels[2]?.id === event.key_id), {
    epoch,
    firstOnDisk,
  });
  let sequence = 0;
  return {
    limits,
    keeper,
    call(key, tokens) {
      const scope = scopes[key % scopes.length] as LimitScope;
      const usage = { input: tokens, cache_read: 1, cache_write: 0, output: 2 * tokens, reasoning: 3, audio: 0 };
      sequence += 1;
      const event = {
        gateway_id: 'gw-1',
        epoch,
        sequence,
        occurred_at: new Date(clock.now()).toISOString(),
        usage,
        billed_nanousd: 7 * tokens,
        tenant_id: scope.tenantId,
        workspace_id: scope.levels[1]?.id,
        key_id: scope.levels[2]?.id,
      } as CallSettled;
      calls.push(event);
      for (const store of [limits, ...(intoCounters === undefined ? [] : [intoCounters])]) {
        const admitted = store.admit({
          leaseId: `${epoch}.${sequence}`,
          scope,
          reservation: { inputTokens: 1, outputTokens: 1, costNanoUsd: 1 },
        });
        if (!admitted.admitted) throw new Error('refused');
        store.settle(admitted.lease, { kind: 'used', usage, costNanoUsd: event.billed_nanousd });
      }
      keeper.counted(epoch, sequence);
    },
  };
}

/** Every window's steps that count now, in one order. */
function numbers(limits: MemoryLimitStore, nowMs: number): string[] {
  for (const scope of scopes) limits.view(scope);
  return limits
    .checkpoint()
    .windows.flatMap(({ level, id, quota, steps }) => {
      const counting = steps.filter(([at]) => forgottenAt(level, id, quota, at) > nowMs);
      const told = counting.map(([at, used]) => `${new Date(at).toISOString()}=${used}`).join(' ');
      return told === '' ? [] : [`${level} ${id} ${quota}: ${told}`];
    })
    .sort();
}

function forgottenAt(level: string, id: string, quota: string, at: number): number {
  for (const { timeZone, levels } of scopes) {
    const limits = levels.find((one) => one.level === level && one.id === id)?.limits;
    const window = limits?.quotas.find((one) => one.id === quota);
    if (window !== undefined) return windowSpan(window.span, timeZone).forgottenAt(at);
  }
  throw new Error(`no window ${quota}`);
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const), key: fc.nat(5), tokens: fc.nat(1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 5 * 3_600_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('acknowledge' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function take(world: World, gateway: Gateway, steps: readonly Step[]): void {
  for (const one of steps) {
    if (one.kind === 'call') gateway.call(one.key, one.tokens);
    else if (one.kind === 'wait') world.clock.advance(one.ms);
    else if (one.kind === 'publish')
      world.published = Math.max(world.published, Math.floor(world.calls.length * one.share));
    else {
      world.acknowledged = Math.max(world.acknowledged, Math.floor(world.published * one.share));
    }
  }
}

async function inWorld(body: (world: World) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'quota-rebuild-'));
  try {
    await body({
      dir,
      clock: createFakeClock(Date.parse('2026-03-28T20:00:00Z')),
      calls: [],
      acknowledged: 0,
      published: 0,
      epoch: 1_700_000_000_000,
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('quota counters that were lost', () => {
  it('are rebuilt from ledger and outbox to the same numbers, window by window', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), (steps) =>
        inWorld(async (world) => {
          const before = await boot(world, { down: false });
          take(world, before, steps);
          const after = await boot(world, { down: false });
          await after.keeper.settleOwed();
          expect(numbers(after.limits, world.clock.now())).toEqual(numbers(before.limits, world.clock.now()));
        }),
      ),
      { numRuns: 40 },
    );
  });

  it('are rebuilt to the same numbers when the ledger answers only later, whatever is counted, acknowledged and saved meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.array(step, { maxLength: 40 }),
        fc.array(step, { maxLength: 40 }),
        fc.boolean(),
        (first, second, third, saved) =>
          inWorld(async (world) => {
            const never = await boot(world, { down: false });
            await never.keeper.settleOwed();
            take(world, never, first);
            // The checkpoint is lost here and the ledger is away; `never` goes on as the gateway that lost nothing.
            rmSync(join(world.dir, 'quota.json'), { force: true });
            const down = { down: true };
            const lost = await boot(world, down, never.limits);
            const asked = lost.keeper.settleOwed();
            take(world, lost, second);
            // A restart in between, with and without a checkpoint that knows it is owed something.
            if (saved) await lost.keeper.save();
            await lost.keeper.stop();
            await asked;
            if (!saved) rmSync(join(world.dir, 'quota.json'), { force: true });
            const again = await boot(world, down, never.limits);
            take(world, again, third);
            down.down = false;
            await again.keeper.settleOwed();
            expect(numbers(again.limits, world.clock.now())).toEqual(numbers(never.limits, world.clock.now()));
          }),
      ),
      { numRuns: 25 },
    );
  });

  it('a checkpoint that lacks calls which the disk has no longer counts as lost', async () => {
    await inWorld(async (world) => {
      const first = await boot(world, { down: false });
      await first.keeper.settleOwed();
      first.call(0, 100);
      await first.keeper.save();
      for (const key of [0, 1, 2, 3]) first.call(key, 10);
      world.published = world.acknowledged = 4;
      const second = await boot(world, { down: false });
      await second.keeper.settleOwed();
      expect(numbers(second.limits, world.clock.now())).toEqual(numbers(first.limits, world.clock.now()));
    });
  });

  it('asks for nothing where the checkpoint is whole', async () => {
    await inWorld(async (world) => {
      const first = await boot(world, { down: false });
      await first.keeper.settleOwed();
      first.call(0, 100);
      await first.keeper.save();
      const second = await boot(world, { down: true });
      await second.keeper.settleOwed();
      expect(numbers(second.limits, world.clock.now())).toEqual(numbers(first.limits, world.clock.now()));
    });
  });
});

it('calls have their turn while the windows of very many workspaces are looked at', async () => {
  const many = Array.from({ length: 20_000 }, (_, n): LimitScope => ({
    tenantId: `t${n}`,
    timeZone: 'UTC',
    levels: [{ level: 'tenant', id: `t${n}`, limits: { quotas: [hour] } }],
  }));
  const use = {
    tenant_id: 't19999',
    workspace_id: uuid(1),
    key_id: 'key00001',
    at_ms: 0,
    input_tokens: 1,
    output_tokens: 7,
    billed_nanousd: 0,
  };
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  count();
  const ledger = createLedgerUse({
    fetch: async ({ spans }) => ({ spans: spans.map(() => [use]) }),
    gatewayId: 'gw-1',
    clock: createFakeClock(0),
    scopes: () => many,
  });
  const { windows } = await ledger([]);
  clearImmediate(next);
  expect(windows).toEqual([{ level: 'tenant', id: 't19999', quota: 'hour', steps: [[0, 7]] }]);
  expect(turns).toBeGreaterThan(20);
});
