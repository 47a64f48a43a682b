import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFakeClock, eventually } from '@sluice/testing';
import { requestIdOf, settledCall, startedCall } from '../fixtures.ts';
import type { OpenedOutbox, OutboxOptions } from './durable-outbox.ts';
import { openOutbox } from './open-outbox.ts';
import { nodeFiles } from './outbox-files.ts';
import { HEADER_BYTES } from './record-format.ts';

describe('the outbox', () => {
  let dir: string;
  let opened: OpenedOutbox[];
  let clock: ReturnType<typeof createFakeClock>;
  const FIRST = 1_700_000_000_000;
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
  /** Files that hold records; the one prepared ahead holds zeros. */
  const segments = (): string[] =>
    readdirSync(dir)
      .filter(
        (name) =>
          name.startsWith('segment-') &&
          readFileSync(join(dir, name))
            .subarray(0, 4)
            .some((byte) => byte !== 0),
      )
      .sort();

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = [];
    clock = createFakeClock(FIRST);
  });
  afterEach(async () => {
    for (const { outbox } of opened) await outbox.close();
    rmSync(dir, { recursive: true });
  });

  it('numbers settled records from 1 without gaps, and starts take no number', async () => {
    const { outbox, replay } = open();
    await outbox.appendStarted(startedCall(1));
    const origins = await Promise.all([
      outbox.appendSettled(settledCall(1)),
      outbox.appendStarted(startedCall(2)),
      outbox.appendSettled(settledCall(2)),
    ]);
    expect(origins).toEqual([
      { gateway_id: 'gw-1', epoch: FIRST, sequence: 1 },
      undefined,
      { gateway_id: 'gw-1', epoch: FIRST, sequence: 2 },
    ]);
    expect([...replay()].map((event) => [event.gateway_id, event.epoch, event.sequence, event.request_id])).toEqual([
      ['gw-1', FIRST, 1, requestIdOf(1)],
      ['gw-1', FIRST, 2, requestIdOf(2)],
    ]);
  });

  it('writes all appends of one turn at once', async () => {
    let writes = 0;
    const { outbox } = open({ files: { ...nodeFiles, write: (_fd, _bytes, from, to) => ((writes += 1), to - from) } });
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
    expect(second.outbox.epoch).toBe(FIRST + 1);
    expect(second.unmatched.map((event) => event.request_id)).toEqual([requestIdOf(2)]);
    await second.outbox.appendSettled(settledCall(2));
    await second.outbox.close();
    expect(open().unmatched).toEqual([]);
  });

  it('takes its epoch from the clock, and a larger one than the last where the clock has been set back', async () => {
    await open().outbox.close();
    clock = createFakeClock(FIRST - 3_600_000);
    const second = open();
    expect(second.outbox.epoch).toBe(FIRST + 1);
    expect(second.reopened).toBe(true);
    await second.outbox.close();
    clock = createFakeClock(FIRST + 60_000);
    expect(open().outbox.epoch).toBe(FIRST + 60_000);
  });

  it('a gateway whose disk was lost begins beyond every epoch that the ledger knows of it', async () => {
    const first = open();
    await first.outbox.appendSettled(settledCall(1));
    await first.outbox.close();
    for (const name of readdirSync(dir)) rmSync(join(dir, name));
    clock.advance(5);
    const second = open();
    await second.outbox.appendSettled(settledCall(2));
    second.outbox.acknowledge(FIRST, 1);
    expect(second.reopened).toBe(false);
    expect(second.outbox.stats.pending).toBe(1);
  });

  it('the publisher sees a record only once it is on the disk, so that the ledger is never ahead of it', async () => {
    let finish: (() => void) | undefined;
    let held = true;
    const sync = (): Promise<void> => (held ? new Promise((resolve) => (finish = resolve)) : Promise.resolve());
    const { outbox } = open({ fsyncIntervalMs: 1, files: { ...nodeFiles, sync } });
    const reader = outbox.reader();
    const seen = new Promise<void>((resolve) => outbox.onSettled(resolve));
    await outbox.appendSettled(settledCall(1));
    expect(reader.next(10)).toEqual([]);
    await eventually(() => expect(finish).toBeDefined());
    await outbox.appendSettled(settledCall(2));
    finish?.();
    held = false;
    await seen;
    expect(reader.next(1).map((event) => event.sequence)).toEqual([1]);
    await eventually(() => expect(reader.next(10).map((event) => event.sequence)).toEqual([2]));
  });

  it('never lets an epoch repeat when the epoch file is lost', async () => {
    const first = open();
    await first.outbox.appendSettled(settledCall(1));
    await first.outbox.close();
    rmSync(join(dir, 'epoch.json'));
    expect(open().outbox.epoch).toBe(FIRST + 1);
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

  it('takes allocated space that was never written for the end, and gives it back', async () => {
    const first = open({ segmentBytes: 100_000 });
    for (let n = 1; n <= 3; n += 1) await first.outbox.appendSettled(settledCall(n));
    const path = join(dir, segments()[0] as string);
    expect(statSync(path).size).toBe(100_000);
    const copy = mkdtempSync(join(tmpdir(), 'outbox-copy-'));
    copyFileSync(path, join(copy, segments()[0] as string));
    const second = open({ dir: copy });
    expect([...second.replay()].map((event) => event.sequence)).toEqual([1, 2, 3]);
    expect(statSync(join(copy, segments()[0] as string)).size).toBeLessThan(5000);
    await second.outbox.close();
    rmSync(copy, { recursive: true });
  });

  it('behind pages that a power failure lost, every whole record is kept and can be acknowledged', async () => {
    const first = open();
    for (let n = 1; n <= 5; n += 1) await first.outbox.appendSettled(settledCall(n));
    await first.outbox.close();
    const path = join(dir, segments()[0] as string);
    const whole = readFileSync(path);
    const size = HEADER_BYTES + whole.readUInt32LE(0);
    writeFileSync(path, whole.fill(0, size + 3, 2 * size - 7));
    const second = open();
    const kept = [...second.replay()];
    expect(kept.map((event) => [event.epoch, event.sequence, event.request_id])).toEqual([
      [FIRST, 1, requestIdOf(1)],
      [FIRST + 1, 1, requestIdOf(3)],
      [FIRST + 1, 2, requestIdOf(4)],
      [FIRST + 1, 3, requestIdOf(5)],
    ]);
    second.outbox.acknowledge(FIRST, 1);
    second.outbox.acknowledge(FIRST + 1, 3);
    expect(second.outbox.stats.pending).toBe(0);
  });

  it('deletes a segment only when the ledger has all of it, whatever the spine has taken', async () => {
    const { outbox } = open({ segmentBytes: 700 });
    for (let n = 1; n <= 12; n += 1) await outbox.appendSettled(settledCall(n));
    const before = segments().length;
    expect(before).toBeGreaterThan(3);
    outbox.markPublished(FIRST, 12);
    outbox.acknowledge(FIRST, 1);
    expect(segments()).toHaveLength(before);
    expect(outbox.stats.pending).toBe(11);
    outbox.acknowledge(FIRST, 12);
    expect(segments()).toHaveLength(1);
    expect(outbox.stats).toMatchObject({ pending: 0, oldestAgeMs: 0, ackedSequence: 12, segments: 1 });
  });

  it('a call that stays open for long holds no other record on the disk, and is still found after a kill', async () => {
    const { outbox } = open({ segmentBytes: 1000 });
    await outbox.appendStarted(startedCall(1));
    for (let n = 2; n <= 20; n += 1) await outbox.appendSettled(settledCall(n));
    expect(segments().length).toBeGreaterThan(5);
    outbox.acknowledge(FIRST, 19);
    await outbox.appendSettled(settledCall(21));
    outbox.acknowledge(FIRST, 20);
    expect(segments().length).toBeLessThanOrEqual(3);
    await outbox.close();
    const second = open();
    expect(second.unmatched.map((event) => event.request_id)).toEqual([requestIdOf(1)]);
    await second.outbox.appendSettled(settledCall(1));
    await second.outbox.close();
    expect(open().unmatched).toEqual([]);
  });

  it('keeps earlier epochs until they are acknowledged, and remembers acknowledgements', async () => {
    const first = open();
    for (let n = 1; n <= 3; n += 1) await first.outbox.appendSettled(settledCall(n));
    first.outbox.acknowledge(FIRST, 2);
    await first.outbox.close();
    const second = open();
    expect(second.outbox.stats.pending).toBe(1);
    expect(
      second.outbox
        .reader()
        .next(10)
        .map((event) => event.sequence),
    ).toEqual([3]);
    second.outbox.acknowledge(FIRST, 3);
    expect(segments()).toHaveLength(0);
    expect(second.outbox.stats.pending).toBe(0);
  });

  it('believes no acknowledgement of what it never wrote', async () => {
    const { outbox } = open();
    await outbox.appendSettled(settledCall(1));
    outbox.acknowledge(FIRST, 50);
    expect(outbox.stats.pending).toBe(1);
  });

  it('survives kill -9 in the middle of appending: all that was confirmed is there, in an unbroken sequence', async () => {
    const script = fileURLToPath(new URL('append-until-killed.ts', import.meta.url));
    const child = spawn(process.execPath, ['--conditions=@sluice/source', script, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
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
    expect(outbox.epoch).toBeGreaterThan(FIRST);
  });
});
