import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFakeClock } from '@sluice/testing';
import { requestIdOf, settledCall, startedCall } from '../fixtures.ts';
import { openOutbox, type OpenedOutbox, type OutboxOptions } from './open-outbox.ts';

describe('the outbox', () => {
  let dir: string;
  let opened: OpenedOutbox[];
  const clock = createFakeClock(1_700_000_000_000);
  const open = (over: Partial<OutboxOptions> = {}): OpenedOutbox => {
    const result = openOutbox({ dir, gatewayId: 'gw-1', clock, maxBytes: 1e9, maxAgeMs: 1e9, segmentBytes: 1e6, ...over });
    opened.push(result);
    return result;
  };
  const segments = (): string[] => readdirSync(dir).filter((name) => name.startsWith('segment-')).sort();

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = [];
  });
  afterEach(async () => {
    for (const { outbox } of opened) await outbox.close();
    rmSync(dir, { recursive: true });
  });

  it('numbers settled records from 1 without gaps, and starts take no number', async () => {
    const { outbox, replay } = open();
    await outbox.appendStarted(startedCall(1));
    const origins = await Promise.all([outbox.appendSettled(settledCall(1)), outbox.appendStarted(startedCall(2)), outbox.appendSettled(settledCall(2))]);
    expect(origins).toEqual([{ gateway_id: 'gw-1', epoch: 1, sequence: 1 }, undefined, { gateway_id: 'gw-1', epoch: 1, sequence: 2 }]);
    expect([...replay()].map((event) => [event.gateway_id, event.epoch, event.sequence, event.request_id])).toEqual([
      ['gw-1', 1, 1, requestIdOf(1)],
      ['gw-1', 1, 2, requestIdOf(2)],
    ]);
    expect([...replay({ epoch: 1, sequence: 1 })].map((event) => event.sequence)).toEqual([2]);
  });

  it('writes all appends of one turn at once', async () => {
    let writes = 0;
    const { outbox } = open({ write: (_fd, bytes) => ((writes += 1), bytes.length) });
    await Promise.all(Array.from({ length: 100 }, (_, n) => outbox.appendSettled(settledCall(n))));
    expect(writes).toBe(1);
  });

  it('begins a new epoch at each opening and hands over what was started and never settled', async () => {
    const first = open();
    await first.outbox.appendStarted(startedCall(1));
    await first.outbox.appendStarted(startedCall(2));
    await first.outbox.appendSettled(settledCall(1));
    await first.outbox.close();
    const second = open();
    expect(second.outbox.epoch).toBe(2);
    expect(second.unmatched.map((event) => event.request_id)).toEqual([requestIdOf(2)]);
    await second.outbox.appendSettled(settledCall(2));
    await second.outbox.close();
    expect(open().unmatched).toEqual([]);
  });

  it('never lets an epoch repeat when the epoch file is lost', async () => {
    const first = open();
    await first.outbox.appendSettled(settledCall(1));
    await first.outbox.close();
    rmSync(join(dir, 'epoch.json'));
    expect(open().outbox.epoch).toBe(2);
  });

  it('cuts off a torn tail and keeps every whole record before it', async () => {
    const first = open();
    for (let n = 1; n <= 3; n += 1) await first.outbox.appendSettled(settledCall(n));
    await first.outbox.close();
    const path = join(dir, segments()[0] as string);
    truncateSync(path, statSync(path).size - 5);
    const second = open();
    expect([...second.replay()].map((event) => event.sequence)).toEqual([1, 2]);
    await second.outbox.close();
    appendFileSync(path, Buffer.from([9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]));
    expect([...open().replay()].map((event) => event.sequence)).toEqual([1, 2]);
  });

  it('deletes a segment only when the ledger has all of it', async () => {
    const { outbox } = open({ segmentBytes: 2000 });
    for (let n = 1; n <= 12; n += 1) await outbox.appendSettled(settledCall(n));
    const before = segments().length;
    expect(before).toBeGreaterThan(3);
    outbox.acknowledge(1, 1);
    expect(segments()).toHaveLength(before);
    expect(outbox.stats.pending).toBe(11);
    outbox.acknowledge(1, 12);
    expect(segments()).toHaveLength(1);
    expect(outbox.stats).toMatchObject({ pending: 0, oldestAgeMs: 0, ackedSequence: 12, segments: 1 });
  });

  it('keeps a segment whose started call is still open, until it settles', async () => {
    const { outbox } = open({ segmentBytes: 500 });
    await outbox.appendStarted(startedCall(1));
    for (let n = 2; n <= 5; n += 1) await outbox.appendSettled(settledCall(n));
    const before = segments().length;
    outbox.acknowledge(1, 4);
    expect(segments()).toHaveLength(before);
    await outbox.appendSettled(settledCall(1));
    outbox.acknowledge(1, 5);
    expect(segments()).toHaveLength(1);
  });

  it('keeps earlier epochs until they are acknowledged, and remembers acknowledgements', async () => {
    const first = open();
    for (let n = 1; n <= 3; n += 1) await first.outbox.appendSettled(settledCall(n));
    first.outbox.acknowledge(1, 2);
    await first.outbox.close();
    const second = open();
    expect(second.outbox.stats.pending).toBe(1);
    expect(second.outbox.reader().next(10).map((event) => event.sequence)).toEqual([3]);
    second.outbox.acknowledge(1, 3);
    expect(segments()).toHaveLength(1);
    expect(second.outbox.stats.pending).toBe(0);
  });

  it('believes no acknowledgement of what it never wrote', async () => {
    const { outbox } = open();
    await outbox.appendSettled(settledCall(1));
    outbox.acknowledge(1, 50);
    expect(outbox.stats.pending).toBe(1);
  });

  it('stops accepting at its bound in bytes, still records calls already taken, and accepts again after acknowledgement', async () => {
    const { outbox } = open({ segmentBytes: 1000, maxBytes: 3000 });
    expect(outbox.accepting()).toBe(true);
    for (let n = 1; n <= 4; n += 1) await outbox.appendSettled(settledCall(n));
    expect(outbox.accepting()).toBe(false);
    expect((await outbox.appendSettled(settledCall(5))).sequence).toBe(5);
    outbox.acknowledge(1, 5);
    expect(outbox.accepting()).toBe(true);
  });

  it('stops accepting when the oldest unacknowledged record is too old', async () => {
    const { outbox } = open({ maxAgeMs: 60_000 });
    await outbox.appendSettled(settledCall(1));
    clock.advance(50_000);
    await outbox.appendSettled(settledCall(2));
    clock.advance(10_001);
    expect(outbox.accepting()).toBe(false);
    outbox.acknowledge(1, 1);
    expect(outbox.stats.oldestAgeMs).toBe(10_001);
    expect(outbox.accepting()).toBe(true);
  });

  it('rejects appends on a full disk without using up a sequence, and accepts again when there is space', async () => {
    let full = false;
    const written: number[] = [];
    const write = (_fd: number, bytes: Buffer, position: number): number => {
      if (full) throw new Error('ENOSPC: no space left on device');
      written.push(position);
      return bytes.length;
    };
    const { outbox } = open({ write });
    await outbox.appendSettled(settledCall(1));
    full = true;
    await expect(outbox.appendSettled(settledCall(2))).rejects.toThrow('ENOSPC');
    expect(outbox.accepting()).toBe(false);
    clock.advance(1001);
    expect(outbox.accepting()).toBe(false);
    full = false;
    clock.advance(1001);
    expect(outbox.accepting()).toBe(true);
    expect((await outbox.appendSettled(settledCall(3))).sequence).toBe(2);
  });

  it('lets no second process in, and takes over the lock of a dead one', () => {
    open();
    expect(() => open()).toThrow(/in use by process/);
    const other = join(dir, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'lock'), JSON.stringify({ pid: 2 ** 22 + 1, startedAt: '' }));
    expect(open({ dir: other }).outbox.epoch).toBe(1);
  });

  it('survives kill -9 in the middle of appending: all that was confirmed is there, in an unbroken sequence', async () => {
    const script = fileURLToPath(new URL('append-until-killed.ts', import.meta.url));
    const child = spawn(process.execPath, ['--conditions=@sluice/source', script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split('\n').length > 1500) child.kill('SIGKILL');
      });
      child.on('close', () => resolve());
    });
    const confirmed = Math.max(...text.slice(0, text.lastIndexOf('\n')).split('\n').slice(1).map(Number));
    expect(confirmed).toBeGreaterThan(1000);
    const { replay, unmatched, outbox } = open();
    const sequences = [...replay()].map((event) => event.sequence);
    expect(sequences.length).toBeGreaterThanOrEqual(confirmed);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(unmatched.map((event) => event.request_id)).toEqual([requestIdOf(999_999)]);
    expect(outbox.epoch).toBe(2);
  }, 20_000);
});
