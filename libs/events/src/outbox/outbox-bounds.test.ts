import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually } from '@sluice/testing';
import type { CallSettled, EventOrigin } from '@sluice/contracts';
import { settledCall, startedCall } from '../fixtures.ts';
import type { OpenedOutbox, OutboxOptions } from './durable-outbox.ts';
import { openOutbox } from './open-outbox.ts';
import { nodeFiles } from './outbox-files.ts';

const FIRST = 1_700_000_000_000;
const TENANT = startedCall(1).tenant_id;
const OTHER = 'globex';

describe('the bounds of the outbox', () => {
  let dir: string;
  let opened: OpenedOutbox[];
  let clock: ReturnType<typeof createFakeClock>;
  const open = (over: Partial<OutboxOptions> = {}): OpenedOutbox => {
    const result = openOutbox({
      dir,
      gatewayId: 'gw-1',
      clock,
      maxBytes: 1e9,
      maxAgeMs: 1e9,
      segmentBytes: 1e6,
      ...over,
    });
    opened.push(result);
    return result;
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = [];
    clock = createFakeClock(FIRST);
  });
  afterEach(async () => {
    for (const { outbox } of opened) await outbox.close();
    rmSync(dir, { recursive: true });
  });

  it('stops accepting at its bound in bytes, still records calls already taken, and accepts again after acknowledgement', async () => {
    const { outbox } = open({ segmentBytes: 400, maxBytes: 1200 });
    expect(outbox.accepting(TENANT)).toBe(true);
    for (let n = 1; n <= 4; n += 1) await outbox.appendSettled(settledCall(n));
    expect(outbox.accepting(TENANT)).toBe(false);
    expect((await outbox.appendSettled(settledCall(5)))?.sequence).toBe(5);
    outbox.acknowledge(FIRST, 5);
    expect(outbox.accepting(TENANT)).toBe(true);
  });

  it('stops accepting when the oldest unacknowledged record is too old', async () => {
    const { outbox } = open({ maxAgeMs: 60_000 });
    await outbox.appendSettled(settledCall(1));
    clock.advance(50_000);
    await outbox.appendSettled(settledCall(2));
    clock.advance(10_001);
    expect(outbox.accepting(TENANT)).toBe(false);
    outbox.acknowledge(FIRST, 1);
    expect(outbox.stats.oldestAgeMs).toBe(10_001);
    expect(outbox.accepting(TENANT)).toBe(true);
  });

  it('a clock that is set forward or back makes no record older', async () => {
    let stepMs = 0;
    const stepping = { now: () => clock.now() + stepMs, monotonic: () => clock.monotonic() };
    const { outbox } = open({ maxAgeMs: 60_000, clock: stepping });
    await outbox.appendSettled(settledCall(1));
    clock.advance(1000);
    for (stepMs of [86_400_000, -86_400_000]) expect(outbox.stats.oldestAgeMs).toBe(1000);
    expect(outbox.accepting(TENANT)).toBe(true);
  });

  describe('the share of a tenant', () => {
    const bounds = { segmentBytes: 700, maxBytes: 7_000, tenantShare: 0.4 };
    /** Call `n`, in one of eight workspaces of the tenant. */
    const callOf = (n: number, tenantId: string): Omit<CallSettled, keyof EventOrigin> => ({
      ...settledCall(n),
      tenant_id: tenantId,
      workspace: `${tenantId}-${n % 8}`,
      workspace_id: `0b8c5a60-8d0e-4c62-9f0e-00000000000${n % 8}`,
    });
    /** Appends until the tenant is refused; how many calls that took. */
    const fill = async ({ outbox }: OpenedOutbox, tenantId: string, from = 1): Promise<number> => {
      let n = from;
      for (; outbox.accepting(tenantId); n += 1) await outbox.appendSettled(callOf(n, tenantId));
      return n - from;
    };

    it('counts all its workspaces together: it is refused alone, and is accepted again once the ledger has its calls', async () => {
      const opened = open(bounds);
      const { outbox } = opened;
      const n = await fill(opened, TENANT);
      expect(n).toBeGreaterThan(8);
      expect(outbox.shareFull(TENANT)).toBe(true);
      expect(outbox.stats.bytes).toBeLessThan(3_500);
      expect(outbox.accepting(OTHER)).toBe(true);
      expect(outbox.shareFull(OTHER)).toBe(false);
      expect((await outbox.appendSettled(callOf(n + 1, OTHER)))?.sequence).toBe(n + 1);
      expect((await outbox.appendSettled(callOf(n + 2, TENANT)))?.sequence).toBe(n + 2);
      outbox.acknowledge(FIRST, n + 2);
      expect(outbox.accepting(TENANT)).toBe(true);
    });

    it('is the same after each restart and each acknowledgement: used up where it was, and no call larger or smaller after', async () => {
      const filled: number[] = [];
      for (let round = 0; round < 4; round += 1) {
        const before = open(bounds);
        filled.push(await fill(before, TENANT, 1000 * round + 1));
        await before.outbox.close();
        const after = open(bounds);
        expect([TENANT, OTHER].map((tenantId) => after.outbox.accepting(tenantId))).toEqual([false, true]);
        expect([...after.replay()]).toHaveLength(filled[round] as number);
        after.outbox.acknowledge(before.outbox.epoch, filled[round] as number);
        expect(after.outbox.stats).toMatchObject({ bytes: 0, pending: 0 });
        await after.outbox.close();
      }
      expect(new Set(filled).size).toBe(1);
    });

    it('counts the starts that are written anew once', async () => {
      const opened = open(bounds);
      const { outbox } = opened;
      await outbox.appendStarted({ ...startedCall(0), tenant_id: OTHER });
      for (let round = 0; round < 30; round += 1) {
        const from = outbox.stats.lastSequence + 1;
        const n = await fill(opened, TENANT, from);
        expect(n).toBeGreaterThan(5);
        outbox.acknowledge(FIRST, from + n - 1);
        // The start is in the oldest segment and is written anew; then that segment goes.
        await outbox.appendSettled(callOf(from + n, TENANT));
        outbox.acknowledge(FIRST, from + n);
      }
      expect(outbox.shareFull(OTHER)).toBe(false);
    });

    it('is all of the outbox for the tenant to whom the gateway is dedicated, from the moment that it is', async () => {
      let owner: string | undefined;
      const opened = open({ ...bounds, dedicatedTo: () => owner });
      const n = await fill(opened, TENANT);
      owner = OTHER;
      expect(opened.outbox.accepting(TENANT)).toBe(false);
      owner = TENANT;
      await fill(opened, TENANT, n + 1);
      expect(opened.outbox.stats.bytes).toBeGreaterThanOrEqual(bounds.maxBytes);
      expect(opened.outbox.shareFull(TENANT)).toBe(false);
    });

    it('may be set to all of the outbox, and is refused then at the bound and not for its share', async () => {
      const opened = open({ ...bounds, tenantShare: 1 });
      await fill(opened, TENANT);
      expect(opened.outbox.stats.bytes).toBeGreaterThanOrEqual(bounds.maxBytes);
      expect(opened.outbox.accepting(OTHER)).toBe(false);
    });
  });

  describe('on a full disk', () => {
    /** A disk with room for so many segments. */
    const disk = (segments: number) => {
      let left = segments;
      let preparing = 0;
      const take = (): void => {
        state.allocations += 1;
        if (left === 0) throw new Error('ENOSPC: no space left on device');
        left -= 1;
      };
      const state = {
        allocations: 0,
        grow: (by: number) => void (left += by),
        /** Resolves when no space is being prepared. */
        idle: () => eventually(() => expect(preparing).toBe(0), { everyMs: 1 }),
        files: {
          ...nodeFiles,
          async allocate(path: string, bytes: number) {
            take();
            preparing += 1;
            await nodeFiles.allocate(path, bytes).finally(() => (preparing -= 1));
          },
          allocateNow: (path: string, bytes: number) => (take(), nodeFiles.allocateNow(path, bytes)),
        },
      };
      return state;
    };

    it('refuses new calls while there is still room for every call that runs, and each of those is recorded', async () => {
      const { files, idle } = disk(2);
      const { outbox } = open({ files, segmentBytes: 100_000 });
      let running = 0;
      for (; outbox.accepting(TENANT); running += 1) {
        await outbox.appendStarted(startedCall(running));
        // As in a gateway, calls come slower than the disk answers.
        await idle();
      }
      expect(running).toBeGreaterThan(10);
      for (let n = 0; n < running; n += 1) expect((await outbox.appendSettled(settledCall(n)))?.sequence).toBe(n + 1);
    });

    it('promises no space that is still being prepared: a disk that turns out to be full refuses new calls, not those that run', async () => {
      const { files } = disk(1);
      const { promise: prepared, reject: refuse } = Promise.withResolvers<void>();
      const { outbox } = open({ files: { ...files, allocate: () => prepared }, segmentBytes: 100_000 });
      let running = 0;
      for (; outbox.accepting(TENANT); running += 1) await outbox.appendStarted(startedCall(running));
      expect(running).toBeGreaterThan(5);
      for (let n = 0; n < running; n += 1) expect((await outbox.appendSettled(settledCall(n)))?.sequence).toBe(n + 1);
      refuse(new Error('ENOSPC: no space left on device'));
    });

    it('takes new calls again when there is space', async () => {
      const { files, grow } = disk(1);
      const { outbox } = open({ files, segmentBytes: 20_000 });
      await eventually(() => expect(outbox.accepting(TENANT)).toBe(true));
      for (let n = 1; outbox.accepting(TENANT); n += 1) await outbox.appendSettled(settledCall(n));
      grow(2);
      await eventually(() => expect(outbox.accepting(TENANT)).toBe(true));
    });
  });

  describe('when the disk refuses a write', () => {
    const broken = () => {
      const state = {
        full: false,
        files: {
          ...nodeFiles,
          write: (fd: number, bytes: Buffer, from: number, to: number, position: number): number => {
            if (!state.full) return nodeFiles.write(fd, bytes, from, to, position);
            nodeFiles.write(fd, bytes, from, from + Math.floor((to - from) / 2), position);
            throw new Error('ENOSPC: no space left on device');
          },
        },
      };
      return state;
    };

    it('rejects the append without using up a sequence, accepts again when writing works, and nothing torn is read later', async () => {
      const state = broken();
      const first = open({ files: state.files });
      await first.outbox.appendSettled(settledCall(1));
      state.full = true;
      await expect(Promise.all([2, 3, 4].map((n) => first.outbox.appendSettled(settledCall(n))))).rejects.toThrow(
        'ENOSPC',
      );
      expect(first.outbox.accepting(TENANT)).toBe(false);
      clock.advance(1001);
      expect(first.outbox.accepting(TENANT)).toBe(false);
      state.full = false;
      clock.advance(1001);
      expect(first.outbox.accepting(TENANT)).toBe(true);
      expect((await first.outbox.appendSettled(settledCall(5)))?.sequence).toBe(2);
      await first.outbox.close();
      expect([...open().replay()].map((event) => [event.sequence, event.request_id])).toEqual([
        [1, settledCall(1).request_id],
        [2, settledCall(5).request_id],
      ]);
    });

    it('by setting serves calls without a record and counts them, and records again when writing works', async () => {
      const state = broken();
      const { outbox } = open({ files: state.files, atBound: 'serve' });
      await outbox.appendStarted(startedCall(1));
      state.full = true;
      expect(await outbox.appendSettled(settledCall(1))).toBeUndefined();
      expect(outbox.accepting(TENANT)).toBe(true);
      await outbox.appendStarted(startedCall(2));
      expect(await outbox.appendSettled(settledCall(2))).toBeUndefined();
      expect(outbox.stats.unmeteredCalls).toBe(2);
      state.full = false;
      clock.advance(1001);
      await outbox.appendStarted(startedCall(3));
      expect((await outbox.appendSettled(settledCall(3)))?.sequence).toBe(1);
    });
  });

  it('by setting a call beyond the bound is served without a record and counted, never refused', async () => {
    const { outbox } = open({ segmentBytes: 400, maxBytes: 1200, atBound: 'serve' });
    for (let n = 1; n <= 4; n += 1) await outbox.appendSettled(settledCall(n));
    expect(outbox.accepting(TENANT)).toBe(true);
    await outbox.appendStarted(startedCall(5));
    expect(await outbox.appendSettled(settledCall(5))).toBeUndefined();
    expect(outbox.stats).toMatchObject({ unmeteredCalls: 1, lastSequence: 4 });
  });

  it('by setting no append resolves before it is on the disk, and those that wait share one force', async () => {
    let forced = 0;
    let finish = (): void => undefined;
    let held = true;
    const files = {
      ...nodeFiles,
      sync: () => ((forced += 1), held ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve()),
    };
    const { outbox } = open({ fsyncIntervalMs: 0, files });
    let resolved = 0;
    const appends = [1, 2, 3].map((n) => outbox.appendSettled(settledCall(n)).then(() => (resolved += 1)));
    await eventually(() => expect(forced).toBe(1));
    const late = [4, 5].map((n) => outbox.appendSettled(settledCall(n)).then(() => (resolved += 1)));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(resolved).toBe(0);
    finish();
    await Promise.all(appends);
    expect(resolved).toBe(3);
    await eventually(() => expect(forced).toBe(2));
    held = false;
    finish();
    await Promise.all(late);
  });
});
