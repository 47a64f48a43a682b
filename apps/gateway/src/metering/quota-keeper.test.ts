import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallSettled, LimitScope } from '@sluice/contracts';
import { createMemoryLimitStore } from '@sluice/limits';
import { createFakeClock } from '@sluice/testing';
import { createQuotaKeeper } from './quota-keeper.ts';

const usage = (input: number) => ({ input, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 });
const scope: LimitScope = {
  tenantId: 't',
  timeZone: 'UTC',
  levels: [
    {
      level: 'tenant',
      id: 't',
      limits: {
        quotas: [
          {
            id: 'monthly',
            meter: 'total_tokens',
            limit: 1000,
            mode: 'hard',
            alertAtPercent: [],
            span: { kind: 'calendar', period: 'month' },
          },
        ],
      },
    },
  ],
};

const HERE = { epoch: 9, firstOnDisk: new Map([[1, 1]]) };

let dir: string;
const clock = createFakeClock(Date.parse('2026-03-15T12:00:00Z'));
const settled = (sequence: number, tokens: number, epoch = 1): CallSettled =>
  ({
    epoch,
    sequence,
    usage: usage(tokens),
    billed_nanousd: 0,
    occurred_at: new Date(clock.now()).toISOString(),
  }) as CallSettled;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'quota-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function boot() {
  const limits = createMemoryLimitStore({ clock });
  const keeper = createQuotaKeeper({
    dir,
    limits,
    onFault: (error) => {
      throw error;
    },
  });
  const used = async () => (await limits.view(scope)).quotas[0]?.used;
  const spend = async (sequence: number, tokens: number) => {
    const admitted = await limits.admit({
      leaseId: `l${sequence}`,
      scope,
      reservation: { inputTokens: tokens, outputTokens: 0, costNanoUsd: 0 },
    });
    if (!admitted.admitted) throw new Error('refused');
    await limits.settle(admitted.lease, { kind: 'used', usage: usage(tokens), costNanoUsd: 0 });
    keeper.counted(1, sequence);
  };
  return { limits, keeper, used, spend };
}

describe('quota counters over a kill', () => {
  it('what was saved and what only the outbox holds are both counted, each once', async () => {
    const first = boot();
    await first.keeper.restore([], () => scope, HERE);
    await first.spend(1, 100);
    await first.spend(3, 300);
    await first.keeper.save();
    await first.spend(2, 200);

    const second = boot();
    const result = await second.keeper.restore([settled(1, 100), settled(2, 200), settled(3, 300)], () => scope, HERE);
    expect(result).toEqual({ restored: true, replayed: 1 });
    expect(await second.used()).toBe(600);
  });

  it('one call that is long at its end costs no more however many end before it', async () => {
    const first = boot();
    await first.keeper.restore([], () => scope, HERE);
    for (let sequence = 2; sequence <= 50_000; sequence += 1) first.keeper.counted(1, sequence);
    await first.keeper.save();
    expect(statSync(join(dir, 'quota.json')).size).toBeLessThan(1_000);

    const second = boot();
    const result = await second.keeper.restore(
      [settled(1, 100), settled(2, 200), settled(50_000, 200), settled(50_001, 300)],
      () => scope,
      HERE,
    );
    expect([result.replayed, await second.used()]).toEqual([2, 400]);
  });

  it('without a checkpoint everything on disk is counted', async () => {
    const only = boot();
    expect(await only.keeper.restore([settled(1, 400), settled(2, 600)], () => scope, HERE)).toEqual({
      restored: false,
      replayed: 2,
    });
    const refused = await only.limits.admit({
      leaseId: 'x',
      scope,
      reservation: { inputTokens: 1, outputTokens: 0, costNanoUsd: 0 },
    });
    expect(refused.admitted).toBe(false);
  });

  it('a later boot does not count an earlier epoch again', async () => {
    const first = boot();
    await first.keeper.restore([], () => scope, HERE);
    await first.spend(1, 100);
    await first.keeper.save();
    const second = boot();
    await second.keeper.restore([settled(1, 100)], () => scope, HERE);
    second.keeper.counted(2, 1);
    await second.keeper.save();
    const third = boot();
    await third.keeper.restore([settled(1, 100), settled(1, 50, 2)], () => scope, HERE);
    expect(await third.used()).toBe(100);
  });
});
