import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { createFakeClock } from '@sluice/testing';
import { settledCall, startedCall } from '../fixtures.ts';
import type { OpenedOutbox, OutboxOptions } from './durable-outbox.ts';
import { openOutbox } from './open-outbox.ts';
import { HEADER_BYTES } from './record-format.ts';

const FIRST = 1_700_000_000_000;
const CALLS = 20;

describe('an outbox that was cut anywhere', () => {
  let dir: string;
  let opened: OpenedOutbox[];
  const open = (segmentBytes = 1e6, over: Partial<OutboxOptions> = {}): OpenedOutbox => {
    const result = openOutbox({
      dir,
      gatewayId: 'gw-1',
      clock: createFakeClock(FIRST),
      maxBytes: 1e9,
      maxAgeMs: 1e9,
      segmentBytes,
      ...over,
    });
    opened.push(result);
    return result;
  };
  const segments = (): string[] =>
    readdirSync(dir)
      .filter((name) => name.startsWith('segment-'))
      .sort();
  const closeAll = async (): Promise<void> => {
    for (const { outbox } of opened) await outbox.close();
    opened = [];
  };
  /** The numbers of the calls that are found. */
  const found = ({ replay, unmatched }: OpenedOutbox): { ended: number[]; open: number[] } => ({
    ended: [...replay()].map((event) => Number(event.request_id.slice(4))),
    open: unmatched.map((event) => Number(event.request_id.slice(4))),
  });
  /**
   * The file of a process that recorded `CALLS` calls, the starts of the even ones ahead of all ends; where each
   * record begins.
   */
  const writeSegment = async (): Promise<{ path: string; bytes: Buffer; starts: number[] }> => {
    const { outbox } = open();
    for (let n = 0; n < CALLS; n += 2) await outbox.appendStarted(startedCall(n));
    for (let n = 0; n < CALLS; n += 1) await outbox.appendSettled(settledCall(n));
    await closeAll();
    const path = join(dir, segments()[0] as string);
    const bytes = readFileSync(path);
    const starts: number[] = [];
    for (let at = 0; at < bytes.length; at += HEADER_BYTES + bytes.readUInt32LE(at)) starts.push(at);
    return { path, bytes, starts };
  };
  /** Which records are as they were written: a record may end in zeros. */
  const wholeRecords = (was: Buffer, is: Buffer, starts: readonly number[]): number[] =>
    starts
      .map((_, n) => n)
      .filter((n) =>
        was.subarray(starts[n], starts[n + 1]).equals(is.subarray(starts[n], starts[n + 1] ?? was.length)),
      );
  const even = (upTo: number): number[] => Array.from({ length: Math.ceil(CALLS / 2) }, (_, n) => 2 * n).slice(0, upTo);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'outbox-'));
    opened = [];
  });
  afterEach(async () => {
    await closeAll();
    rmSync(dir, { recursive: true });
  });

  it('holds every record that was whole and nothing else, behind zeros, rubbish or the end of the file', async () => {
    const { path, bytes, starts } = await writeSegment();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length }),
        fc.constantFrom('end', 'zeros', 'rubbish'),
        async (cut, behind) => {
          for (const name of readdirSync(dir)) rmSync(join(dir, name));
          const tail = behind === 'end' ? Buffer.alloc(0) : Buffer.alloc(3_000, behind === 'zeros' ? 0 : 0xf5);
          const left = Buffer.concat([bytes.subarray(0, cut), tail]);
          writeFileSync(path, left);
          const whole = wholeRecords(bytes, left, starts).length;
          const ends = Math.max(0, whole - CALLS / 2);
          const seen = found(open());
          await closeAll();
          expect(seen).toEqual({
            ended: Array.from({ length: ends }, (_, n) => n),
            open: even(whole).filter((n) => n >= ends),
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('loses what lay in lost pages and no other record, each of which has one place', async () => {
    const { path, bytes, starts } = await writeSegment();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 900 }),
        async (from, length) => {
          for (const name of readdirSync(dir)) rmSync(join(dir, name));
          const to = Math.min(bytes.length, from + length);
          const left = Buffer.concat([bytes.subarray(0, from), Buffer.alloc(to - from), bytes.subarray(to)]);
          writeFileSync(path, left);
          const kept = wholeRecords(bytes, left, starts);
          const opening = open();
          const seen = found(opening);
          expect(seen.ended.sort((a, b) => a - b)).toEqual(
            kept.filter((n) => n >= CALLS / 2).map((n) => n - CALLS / 2),
          );
          const places = [...opening.replay()].map((event) => `${event.epoch}-${event.sequence}`);
          expect(new Set(places).size).toBe(places.length);
          await closeAll();
        },
      ),
      { numRuns: 60 },
    );
  });

  describe('that an earlier version wrote as JSON', () => {
    const frame = (event: object): Buffer => {
      const payload = Buffer.from(JSON.stringify(event));
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt32LE(payload.length);
      header.writeUInt32LE(crc32(payload), 4);
      return Buffer.concat([header, payload]);
    };
    const placed = (n: number): object => ({ ...settledCall(n), gateway_id: 'gw-1', epoch: FIRST - 10, sequence: n });
    const earlier = (...parts: Buffer[]): void =>
      writeFileSync(join(dir, `segment-${FIRST - 10}-0000000001.log`), Buffer.concat(parts));

    it('gives its calls, closes and deletes what is read, and is followed by records of today', async () => {
      earlier(frame(startedCall(1)), frame(startedCall(2)), frame(placed(1)), Buffer.alloc(5_000));
      const first = open();
      expect(found(first)).toEqual({ ended: [1], open: [2] });
      await first.outbox.appendSettled(settledCall(2));
      expect(found(first)).toEqual({ ended: [1, 2], open: [2] });
      await closeAll();
      expect(segments()).toHaveLength(2);
      const second = open();
      expect(found(second)).toEqual({ ended: [1, 2], open: [] });
      second.outbox.acknowledge(FIRST - 10, 1);
      expect(segments()).not.toContain(`segment-${FIRST - 10}-0000000001.log`);
    });

    it('counts to the share of its tenant, whatever its workspace', async () => {
      const of = (n: number): object => ({
        ...placed(n),
        workspace: `acme-${n}`,
        workspace_id: `0b8c5a60-8d0e-4c62-9f0e-00000000000${n}`,
      });
      earlier(...[1, 2, 3, 4].map((n) => frame(of(n))));
      const bytes = statSync(join(dir, `segment-${FIRST - 10}-0000000001.log`)).size;
      const first = open(100, { maxBytes: 2 * bytes, tenantShare: 0.5 });
      expect(['acme', 'globex'].map((tenantId) => first.outbox.accepting(tenantId))).toEqual([false, true]);
      first.outbox.acknowledge(FIRST - 10, 4);
      expect(first.outbox.accepting('acme')).toBe(true);
    });

    it('keeps what follows damage, in a new place and in the format of today', async () => {
      earlier(frame(placed(1)), Buffer.alloc(50, 7), frame({ ...placed(3), residency: { region: 'eu' } }));
      const { replay } = open();
      expect([...replay()]).toEqual([
        placed(1),
        { ...placed(3), residency: { region: 'eu' }, epoch: FIRST, sequence: 1 },
      ]);
    });

    it('carries a start on that holds its segment back', async () => {
      earlier(frame({ ...startedCall(7), residency: { region: 'eu' } }), frame(placed(1)));
      const first = open(1_000);
      first.outbox.acknowledge(FIRST - 10, 1);
      for (let n = 10; n < 20; n += 1) {
        const { epoch, sequence } = (await first.outbox.appendSettled(settledCall(n))) as {
          epoch: number;
          sequence: number;
        };
        first.outbox.acknowledge(epoch, sequence);
      }
      await closeAll();
      expect(segments()).not.toContain(`segment-${FIRST - 10}-0000000001.log`);
      expect(open().unmatched).toEqual([{ ...startedCall(7), residency: { region: 'eu' } }]);
    });
  });

  it('leaves a folder alone that a later version wrote', async () => {
    const { path, bytes } = await writeSegment();
    bytes[HEADER_BYTES + 3] = 9;
    bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_BYTES, HEADER_BYTES + bytes.readUInt32LE(0))), 4);
    writeFileSync(path, bytes);
    expect(() => open()).toThrow(/format of a later version/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});
