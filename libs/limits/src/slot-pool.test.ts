import type { Priority } from '@sluice/contracts';
import { createFakeClock, type FakeClock, type FakeTimer } from '@sluice/testing';
import fc from 'fast-check';
import { createSlotPool, type SlotLease, type SlotPool, type SlotPoolOptions, type SlotRequest } from './slot-pool.ts';

function poolOf(options: Pick<SlotPoolOptions, 'slots' | 'reserved'>): { clock: FakeClock; pool: SlotPool } {
  const clock = createFakeClock(1_000);
  const timers = {
    setTimeout: clock.setTimeout,
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer as FakeTimer | undefined),
  };
  return { clock, pool: createSlotPool({ ...options, clock, timers }) };
}

function request(tenantId: string, more: Partial<SlotRequest> = {}): SlotRequest {
  return {
    tenantId,
    workspaceId: tenantId,
    priority: 'standard',
    costTokens: 100,
    maxSharePercent: 100,
    timeoutMs: 1000,
    ...more,
  };
}

function now(result: ReturnType<SlotPool['acquire']>): SlotLease {
  if (result instanceof Promise) throw new Error('had to wait');
  return result;
}

describe('createSlotPool', () => {
  it('gives a free slot at once, without a promise, and takes it back once', () => {
    const { pool } = poolOf({ slots: 1 });
    const lease = now(pool.acquire(request('a')));
    expect(pool.stats.inUse).toBe(1);
    expect([lease.release(), lease.release()]).toEqual([true, false]);
    expect(pool.stats.inUse).toBe(0);
  });

  it('gives a freed slot to the one that waits and says how long it waited', async () => {
    const { clock, pool } = poolOf({ slots: 1 });
    const first = now(pool.acquire(request('a')));
    const waiting = pool.acquire(request('b', { priority: 'high' }));
    clock.advance(300);
    expect(pool.stats).toMatchObject({ queuedByPriority: { high: 1 }, oldestWaitMs: 300 });
    first.release();
    expect(await waiting).toMatchObject({ waitMs: 300 });
    expect(clock.pendingTimers()).toBe(0);
    expect(pool.stats).toMatchObject({ inUse: 1, queuedByPriority: {}, oldestWaitMs: 0 });
  });

  it('never lets a tenant hold more than its share, even while slots are free', async () => {
    const { pool } = poolOf({ slots: 5 });
    const held = [
      now(pool.acquire(request('a', { maxSharePercent: 50 }))),
      now(pool.acquire(request('a', { maxSharePercent: 50 }))),
    ];
    const third = pool.acquire(request('a', { maxSharePercent: 50 }));
    expect(third).toBeInstanceOf(Promise);
    expect(now(pool.acquire(request('b'))).waitMs).toBe(0);
    held[0]?.release();
    expect(await third).toHaveProperty('release');
    expect(pool.stats.inUse).toBe(3);
  });

  it('lets every tenant have one slot however small its share', () => {
    const { pool } = poolOf({ slots: 3 });
    expect(now(pool.acquire(request('a', { maxSharePercent: 1 }))).waitMs).toBe(0);
    expect(pool.acquire(request('a', { maxSharePercent: 1 }))).toBeInstanceOf(Promise);
  });

  it('keeps reserved slots for their priority', async () => {
    const { pool } = poolOf({ slots: 2, reserved: { priority: 'high', slots: 1 } });
    const low = now(pool.acquire(request('a', { priority: 'low' })));
    const waiting = pool.acquire(request('b'));
    expect(waiting).toBeInstanceOf(Promise);
    const critical = now(pool.acquire(request('c', { priority: 'critical' })));
    low.release();
    critical.release();
    expect(await waiting).toHaveProperty('release');
  });

  it('counts what a tier holds as part of its reserve, so that its use takes nothing from the others', () => {
    const { pool } = poolOf({ slots: 6, reserved: { priority: 'high', slots: 2 } });
    const high = [1, 2].map(() => now(pool.acquire(request('big', { priority: 'high' }))));
    expect(pool.stats.reservedInUse).toBe(2);
    for (let i = 0; i < 4; i += 1) now(pool.acquire(request('small')));
    expect(pool.acquire(request('small', { timeoutMs: 0 }))).toBeInstanceOf(Promise);
    for (const lease of high) lease.release();
    expect(pool.acquire(request('small', { timeoutMs: 0 }))).toBeInstanceOf(Promise);
    now(pool.acquire(request('big', { priority: 'critical' })));
  });

  it('grows and shrinks in place: those who wait get what is new, those who hold keep what they have', async () => {
    const { pool } = poolOf({ slots: 1 });
    const first = now(pool.acquire(request('a')));
    const waiting = pool.acquire(request('b'));
    pool.resize({ slots: 2 });
    const second = await waiting;
    expect([pool.slots, pool.stats.inUse]).toEqual([2, 2]);
    pool.resize({ slots: 1 });
    first.release();
    expect(await pool.acquire(request('c', { timeoutMs: 0 }))).toBe('timeout');
    (second as SlotLease).release();
    pool.resize({ slots: 2, reserved: { priority: 'high', slots: 1 } });
    now(pool.acquire(request('c')));
    expect(await pool.acquire(request('d', { timeoutMs: 0 }))).toBe('timeout');
    now(pool.acquire(request('d', { priority: 'high' })));
  });

  it('ends a wait by timeout, by signal and by cancel, and leaves nothing behind', async () => {
    const { clock, pool } = poolOf({ slots: 1 });
    now(pool.acquire(request('a')));
    const controller = new AbortController();
    let cancel = (): void => undefined;
    const late = pool.acquire(request('b', { timeoutMs: 50 }));
    const aborted = pool.acquire(request('c', { signal: controller.signal }));
    const cancelled = pool.acquire(
      request('d', { cancel: { onCancel: (listener) => ((cancel = listener), () => undefined) } }),
    );
    const refused = pool.acquire(request('e', { timeoutMs: 0 }));
    controller.abort();
    cancel();
    cancel(); // told twice, counted once
    clock.advance(50);
    expect(await Promise.all([late, aborted, cancelled, refused])).toEqual([
      'timeout',
      'aborted',
      'aborted',
      'timeout',
    ]);
    expect(clock.pendingTimers()).toBe(0);
    expect(pool.stats.queuedByPriority).toEqual({});
    void pool.acquire(request('g'));
    expect(pool.stats.queuedByPriority).toEqual({ standard: 1 });
    expect(await pool.acquire(request('f', { signal: controller.signal }))).toBe('aborted');
  });

  it('gives nothing out during a cooldown and goes on by itself after it', async () => {
    const { clock, pool } = poolOf({ slots: 2 });
    pool.cooldown(200);
    const waiting = pool.acquire(request('a'));
    expect(pool.coolingDown).toBe(true);
    clock.advance(199);
    expect(pool.stats.inUse).toBe(0);
    clock.advance(1);
    expect(await waiting).toMatchObject({ waitMs: 200 });
    expect(pool.coolingDown).toBe(false);
  });

  it('is never overbooked, keeps every share and leaks nothing over any order of events', async () => {
    const step = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom<Priority>('critical', 'high', 'standard', 'low'),
      action: fc.constantFrom('acquire', 'acquire', 'release', 'advance'),
      pick: fc.nat({ max: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { clock, pool } = poolOf({ slots: 4 });
        const held: { tenant: string; lease: SlotLease }[] = [];
        const waits: Promise<unknown>[] = [];
        for (const { tenant, priority, action, pick } of steps) {
          if (action === 'advance') clock.advance(400);
          else if (action === 'release') held.splice(pick % Math.max(1, held.length), 1)[0]?.lease.release();
          else {
            const result = pool.acquire(request(tenant, { priority, maxSharePercent: 50 }));
            const keep = (lease: SlotLease | 'timeout' | 'aborted'): void =>
              void (typeof lease === 'object' && held.push({ tenant, lease }));
            if (result instanceof Promise) waits.push(result.then(keep));
            else keep(result);
          }
          await Promise.resolve();
          await Promise.resolve();
          expect(pool.stats.inUse).toBe(held.length);
          expect(held.length).toBeLessThanOrEqual(4);
          for (const name of ['a', 'b', 'c'])
            expect(held.filter((one) => one.tenant === name).length).toBeLessThanOrEqual(2);
        }
        while (held.length > 0) {
          held.pop()?.lease.release();
          await Promise.resolve();
          await Promise.resolve();
        }
        await Promise.all(waits);
        expect(pool.stats).toMatchObject({ inUse: 0, queuedByPriority: {} });
        expect(clock.pendingTimers()).toBe(0);
      }),
    );
  });
});
