import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { createFakeClock } from '@sluice/testing';
import { OUTCOMES, totalTokens, type CallSettled, type LedgerCorrection } from '@sluice/contracts';
import type { Database } from '../db/open-database.ts';
import { testServers, type TestServer } from '../db/test-database.ts';
import { createLedger, type Ledger } from './create-ledger.ts';
import { requestIdOf, settledCall } from './testing.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');

describe.each(testServers())('rollups on $name', ({ start }) => {
  let server: TestServer;
  let database: Database;
  let ledger: Ledger;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());
  const fresh = async (): Promise<void> => {
    database = await server.createDatabase();
    ledger = createLedger({ db: database.db, clock: createFakeClock(NOW) });
  };
  beforeEach(fresh, 30_000);

  async function sums(step: 'hour' | 'day'): Promise<{ calls: string; tokens: string; billed: string }> {
    const found = await database.db.execute<{ calls: string; tokens: string; billed: string }>(sql`
      select coalesce(sum(calls), 0)::text as calls, coalesce(sum(billed_nanousd), 0)::text as billed,
        coalesce(sum(tokens_input + tokens_cache_read + tokens_cache_write + tokens_output + tokens_reasoning + tokens_audio), 0)::text as tokens
      from ${sql.identifier(`rollup_${step}`)}`);
    return found.rows[0] ?? { calls: '', tokens: '', billed: '' };
  }

  const call = fc.record({
    n: fc.integer({ min: 1, max: 30 }),
    workspace: fc.constantFrom('acme-prod', 'globex-prod'),
    minute: fc.integer({ min: 0, max: 60 * 60 }),
    outcome: fc.constantFrom(...OUTCOMES),
    feature: fc.constantFrom(undefined, 'search', 'chat'),
    billed: fc.integer({ min: 0, max: 2 ** 50 }),
  });
  const picks = fc.array(fc.nat(), { maxLength: 8 });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), picks }),
    fc.record({ kind: fc.constant('race' as const), picks, others: picks }),
    fc.record({
      kind: fc.constant('correct' as const),
      pick: fc.nat(),
      id: fc.constantFrom('a', 'b'),
      billed: fc.integer({ min: -1_000, max: 1_000 }),
      output: fc.integer({ min: -30, max: 5 }),
    }),
    fc.record({ kind: fc.constant('rebuild' as const), day: fc.constantFrom(undefined, '2026-02-28T00:00:00.000Z') }),
  );

  it('are equal to the sum of the rows after every step, whatever is sent twice, raced, corrected or made anew', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(call, { selector: (one) => one.n, minLength: 1, maxLength: 12 }),
        fc.array(step, { maxLength: 6 }),
        async (calls, steps) => {
          await fresh();
          const events = calls.map(({ n, workspace, minute, outcome, feature, billed }) =>
            settledCall(n, {
              workspace,
              outcome,
              billed_nanousd: billed,
              occurred_at: new Date(Date.UTC(2026, 1, 27, 0, minute)).toISOString(),
              ...(feature && { feature }),
            }),
          );
          const take = (indices: readonly number[]): CallSettled[] =>
            indices.flatMap((i) => events[i % events.length] ?? []);
          const held = new Map<string, CallSettled>();
          const corrections = new Map<string, { billed: number; output: number }>();
          for (const one of steps) {
            if (one.kind === 'insert' || one.kind === 'race') {
              const batches = one.kind === 'insert' ? [take(one.picks)] : [take(one.picks), take(one.others)];
              await Promise.all(batches.map((batch) => ledger.insertBatch(batch)));
              for (const event of batches.flat()) held.set(event.request_id, event);
            } else if (one.kind === 'rebuild') {
              await ledger.rebuildRollups(one.day === undefined ? {} : { from: one.day });
            } else {
              const event = take([one.pick])[0];
              if (event === undefined || (one.billed === 0 && one.output === 0)) continue;
              const correction: LedgerCorrection = {
                id: one.id,
                request_id: event.request_id,
                reason: 'test',
                tokens: { output: one.output },
                cost_nanousd: 0,
                billed_nanousd: one.billed,
              };
              // Refused: a call that is not held, an id used for other figures, a sum below zero. Then nothing changes.
              const done = await ledger.correct(correction).catch(() => undefined);
              if (done?.created === true)
                corrections.set(`${event.request_id}/${one.id}`, { billed: one.billed, output: one.output });
            }
            const expected = {
              calls: String(held.size),
              tokens: String(
                [...held.values()].reduce((sum, event) => sum + totalTokens(event.usage), 0) +
                  [...corrections.values()].reduce((sum, { output }) => sum + output, 0),
              ),
              billed: String(
                [...held.values()].reduce((sum, event) => sum + BigInt(event.billed_nanousd), 0n) +
                  [...corrections.values()].reduce((sum, { billed }) => sum + BigInt(billed), 0n),
              ),
            };
            expect(await sums('hour')).toEqual(expected);
            expect(await sums('day')).toEqual(expected);
            expect(await ledger.checkRollups()).toEqual([]);
          }
        },
      ),
      { numRuns: 12 },
    );
  }, 120_000);

  it('that were tampered with are found by the check, by key and by sum, and mended by making that day anew', async () => {
    await ledger.insertBatch([
      settledCall(1),
      settledCall(2, { occurred_at: '2026-02-10T01:00:00.000Z', feature: 'search' }),
    ]);
    await database.db.execute(sql`update rollup_hour set calls = calls + 1 where feature = 'search'`);
    await database.db.execute(sql`delete from rollup_day where feature = ''`);
    const found = await ledger.checkRollups();
    expect(found).toEqual([
      expect.objectContaining({
        step: 'hour',
        at: '2026-02-10T01:00:00Z',
        workspace: 'acme-prod',
        feature: 'search',
        sums: { calls: { rows: '1', rollup: '2' } },
      }),
      expect.objectContaining({
        step: 'day',
        at: '2026-03-10T00:00:00Z',
        sums: expect.objectContaining({
          calls: { rows: '1', rollup: '0' },
          billed_nanousd: { rows: '2345', rollup: '0' },
        }),
      }),
    ]);
    expect(await ledger.checkRollups({ from: '2026-02-11T00:00:00.000Z', to: '2026-03-10T00:00:00.000Z' })).toEqual([]);
    expect(await ledger.rebuildRollups({ from: '2026-03-10T13:00:00.000Z' })).toBe(1);
    expect(await ledger.checkRollups()).toHaveLength(1);
    expect(await ledger.rebuildRollups()).toBe(2);
    expect(await ledger.checkRollups()).toEqual([]);
  });

  it('answer a summary together with the rows at the ragged ends of its range, to the millisecond', async () => {
    const at = [
      0,
      1,
      30 * 60_000,
      3_599_999,
      3_600_000,
      5 * 3_600_000,
      24 * 3_600_000,
      50 * 3_600_000,
      73 * 3_600_000 + 17,
    ].map((ms) => Date.UTC(2026, 1, 26) + ms);
    await ledger.insertBatch(at.map((ms, i) => settledCall(i + 1, { occurred_at: new Date(ms).toISOString() })));
    const bounds = [...at, ...at.map((ms) => ms + 1), Date.UTC(2026, 1, 27), Date.UTC(2026, 1, 28, 13, 5)];
    for (const from of bounds) {
      for (const to of bounds.filter((bound) => bound > from)) {
        const expected = at.filter((ms) => ms >= from && ms < to).length;
        const summary = await ledger.summary({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
        expect([new Date(from).toISOString(), new Date(to).toISOString(), summary.calls]).toEqual([
          new Date(from).toISOString(),
          new Date(to).toISOString(),
          expected,
        ]);
      }
    }
    expect(await ledger.summary({ from: '2026-02-26T00:00:00.001Z' })).toMatchObject({ calls: at.length - 1 });
  });

  it('tell keys of a workspace apart, and add up to the workspace', async () => {
    const keys = ['key00001', 'key00002'];
    await ledger.insertBatch(
      Array.from({ length: 30 }, (_, i) =>
        settledCall(i + 1, { key_id: keys[i % 3 === 0 ? 1 : 0] as string, billed_nanousd: i }),
      ),
    );
    const [first, second, both] = await Promise.all(
      [...keys, undefined].map((key) =>
        ledger.summary({ workspace: 'acme-prod', key, from: '2026-03-01T00:00:00.000Z' }),
      ),
    );
    expect([first?.calls, second?.calls, both?.calls]).toEqual([20, 10, 30]);
    expect([first?.billed_nanousd, second?.billed_nanousd, both?.billed_nanousd]).toEqual([300, 135, 435]);
    expect(await ledger.checkRollups()).toEqual([]);
  });
});

describe.each(testServers())('a correction on $name', ({ start }) => {
  let server: TestServer;
  let database: Database;
  let ledger: Ledger;
  beforeAll(async () => {
    server = await start();
    database = await server.createDatabase();
    ledger = createLedger({ db: database.db, clock: createFakeClock(NOW) });
    await ledger.insertBatch([settledCall(1, { feature: 'search', occurred_at: '2026-02-10T01:00:00.000Z' })]);
  });
  afterAll(() => server.stop());

  const correction: LedgerCorrection = {
    id: 'credit-1',
    request_id: requestIdOf(1),
    reason: 'priced twice',
    tokens: { output: -5 },
    cost_nanousd: 0,
    billed_nanousd: -1_000,
  };

  it('is a row of its own, booked now under the same key, and leaves the call as it was', async () => {
    const { created, row } = await ledger.correct(correction);
    expect(created).toBe(true);
    expect(row).toMatchObject({
      kind: 'correction',
      corrects: settledCall(1).event_id,
      reason: 'priced twice',
      request_id: requestIdOf(1),
      workspace: 'acme-prod',
      feature: 'search',
      model: 'sim-large',
      billed_nanousd: -1_000,
      cost_nanousd: 0,
      tokens: { output: -5, input: 0 },
      attempts: [],
    });
    expect(Date.parse(row.occurred_at)).toBe(NOW);
    expect((await ledger.rows({ kind: 'call', limit: 10 })).rows).toEqual([
      expect.objectContaining({ billed_nanousd: 2_345 }),
    ]);
    expect(await ledger.summary({})).toMatchObject({
      calls: 1,
      attempts: 1,
      billed_nanousd: 1_345,
      tokens: { output: 15 },
      outcomes: { ok: 1 },
    });
    expect(await ledger.summary({ to: '2026-03-01T00:00:00.000Z' })).toMatchObject({ calls: 1, billed_nanousd: 2_345 });
  });

  it('given again adds nothing; with other figures, for an unknown call or beyond what was billed it is refused', async () => {
    expect(await ledger.correct(correction)).toMatchObject({ created: false, row: { billed_nanousd: -1_000 } });
    await expect(ledger.correct({ ...correction, billed_nanousd: -2 })).rejects.toMatchObject({ status: 409 });
    await expect(ledger.correct({ ...correction, request_id: requestIdOf(99) })).rejects.toMatchObject({ status: 404 });
    await expect(ledger.correct({ ...correction, id: 'credit-2', billed_nanousd: -1_346 })).rejects.toMatchObject({
      status: 422,
    });
    expect(await ledger.summary({})).toMatchObject({ billed_nanousd: 1_345 });
  });

  it('and its audit record are there together or not at all', async () => {
    await expect(
      ledger.correct({ ...correction, id: 'credit-3', billed_nanousd: -1, tokens: {} }, () =>
        Promise.reject(new Error('no audit')),
      ),
    ).rejects.toThrow('no audit');
    expect((await ledger.rows({ kind: 'correction', limit: 10 })).rows).toHaveLength(1);
    expect(await ledger.checkRollups()).toEqual([]);
  });
});
