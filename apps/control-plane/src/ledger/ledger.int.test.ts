import { sql } from 'drizzle-orm';
import { createFakeClock } from '@sluice/testing';
import type { Database } from '../db/open-database.ts';
import { testServers, type TestServer } from '../db/test-database.ts';
import { createMeteringHandler } from '../consumers/metering-handler.ts';
import { createLedger, type Ledger } from './create-ledger.ts';
import { settledCall } from './testing.ts';

describe.each(testServers())('the ledger on $name', ({ start }) => {
  let server: TestServer;
  let database: Database;
  let ledger: Ledger;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    database = await server.createDatabase();
    ledger = createLedger({ db: database.db, clock: createFakeClock(Date.parse('2026-03-10T12:00:00.000Z')) });
  });

  async function count(table: string): Promise<number> {
    const found = await database.db.execute<{ n: string }>(sql.raw(`select count(*) as n from ${table}`));
    return Number(found.rows[0]?.n);
  }

  describe('writing', () => {
    it('holds an event once however often it is delivered, within a batch and across batches', async () => {
      expect(await ledger.insertBatch([settledCall(1), settledCall(1), settledCall(2)])).toMatchObject({
        inserted: 2,
        duplicates: 1,
      });
      expect(await ledger.insertBatch([settledCall(2), settledCall(1)])).toMatchObject({ inserted: 0, duplicates: 2 });
      expect(await count('ledger')).toBe(2);
      expect(await ledger.summary({})).toMatchObject({
        calls: 2,
        attempts: 2,
        cost_nanousd: 2_468,
        billed_nanousd: 4_690,
        billed_usd: '0.00000469',
      });
    });

    it('gives back every field of a call as it was settled', async () => {
      await ledger.insertBatch([
        settledCall(7, {
          feature: 'search',
          end_user: 'u-1',
          fallback: true,
          fallback_reason: 'timeout',
          occurred_at: '2026-03-10T12:00:00.123Z',
        }),
      ]);
      const { rows } = await ledger.rows({ limit: 10 });
      const event = settledCall(7);
      expect(rows).toEqual([
        expect.objectContaining({
          event_id: event.event_id,
          sequence: 7,
          tenant: 'acme',
          workspace: 'acme-prod',
          feature: 'search',
          end_user: 'u-1',
          error_code: null,
          fallback: true,
          fallback_reason: 'timeout',
          tokens: event.usage,
          cost_nanousd: 1_234,
          billed_nanousd: 2_345,
          latency: event.latency,
          attempts: event.attempts,
        }),
      ]);
      expect(Date.parse(rows[0]?.occurred_at ?? '')).toBe(Date.parse('2026-03-10T12:00:00.123Z'));
    });

    it('holds a call once that was settled again under another time, within a batch and across batches', async () => {
      const again = settledCall(1, { occurred_at: '2026-03-25T00:00:00.000Z', outcome: 'interrupted', sequence: 2 });
      expect(await ledger.insertBatch([settledCall(1), again])).toMatchObject({
        inserted: 1,
        duplicates: 1,
        watermarks: [{ sequence: 2 }],
      });
      expect(await ledger.insertBatch([again])).toMatchObject({ inserted: 0, duplicates: 1 });
      expect(await ledger.insertBatch([settledCall(1, { occurred_at: '2026-02-20T00:00:00.000Z' })])).toMatchObject({
        inserted: 0,
      });
      expect((await ledger.rows({ limit: 10 })).rows).toEqual([expect.objectContaining({ outcome: 'ok' })]);
      expect(await ledger.summary({})).toMatchObject({ calls: 1, outcomes: { ok: 1 } });
    });

    it('tells each of several waiting batches what became of its own events, and fails none for another', async () => {
      const broken = settledCall(5, { end_user: 'a\u0000b' });
      const [a, b, c, d] = await Promise.allSettled([
        ledger.insertBatch([settledCall(1)]),
        ledger.insertBatch([settledCall(2), settledCall(1)]),
        ledger.insertBatch([broken]),
        ledger.insertBatch([settledCall(3, { gateway_id: 'gw-2', sequence: 1 })]),
      ]);
      expect(a).toMatchObject({ status: 'fulfilled', value: { inserted: 1, duplicates: 0 } });
      expect(b).toMatchObject({ status: 'fulfilled', value: { inserted: 1, duplicates: 1 } });
      expect(c).toMatchObject({ status: 'rejected' });
      expect(d).toMatchObject({
        status: 'fulfilled',
        value: { inserted: 1, watermarks: [{ gateway_id: 'gw-2', epoch: 1, sequence: 1 }] },
      });
      expect(await count('ledger')).toBe(3);
    });

    it('lets batches with the same events race, from two processes too, without an error or a second row', async () => {
      const events = Array.from({ length: 30 }, (_, i) => settledCall(i + 1));
      const other = createLedger({ db: database.db, clock: createFakeClock(Date.parse('2026-03-10T12:00:00.000Z')) });
      const results = await Promise.all([
        ledger.insertBatch(events),
        other.insertBatch(events.toReversed()),
        ledger.insertBatch(events),
      ]);
      expect(results.reduce((total, result) => total + result.inserted, 0)).toBe(30);
      expect(await ledger.head()).toEqual({ rows: 30, last_settled_at: '2026-03-10T12:00:00.000Z' });
    });
  });

  describe('the watermark', () => {
    it('stops below a gap, passes it when it is filled, and keeps gateways and epochs apart', async () => {
      const at = async () =>
        (await ledger.watermarks()).map(({ gateway_id, epoch, sequence }) => `${gateway_id}/${epoch}:${sequence}`);
      await ledger.insertBatch([settledCall(1), settledCall(2), settledCall(4), settledCall(5)]);
      expect(await at()).toEqual(['gw-1/1:2']);
      await ledger.insertBatch([
        settledCall(100, { epoch: 1_790_000_000_000, sequence: 1 }),
        settledCall(101, { gateway_id: 'gw-2', sequence: 3 }),
      ]);
      expect(await at()).toEqual(['gw-1/1:2', 'gw-1/1790000000000:1', 'gw-2/1:0']);
      expect((await ledger.insertBatch([settledCall(3)])).watermarks).toEqual([
        { gateway_id: 'gw-1', epoch: 1, sequence: 5 },
      ]);
      expect(await count('ledger_positions')).toBe(1);
      // A repeat below the watermark moves nothing and leaves no position behind.
      expect((await ledger.insertBatch([settledCall(1)])).watermarks).toEqual([
        { gateway_id: 'gw-1', epoch: 1, sequence: 5 },
      ]);
      expect(await count('ledger_positions')).toBe(1);
    });
  });

  describe('reading', () => {
    it('pages through every row once, newest first, even where many share an instant', async () => {
      await ledger.insertBatch(
        Array.from({ length: 23 }, (_, i) => settledCall(i + 1, { occurred_at: `2026-03-10T12:00:0${i % 3}.000Z` })),
      );
      const seen: string[] = [];
      const times: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await ledger.rows({ workspace: 'acme-prod', limit: 5, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.rows.map((row) => row.event_id));
        times.push(...page.rows.map((row) => row.occurred_at));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect(seen).toHaveLength(23);
      expect(new Set(seen).size).toBe(23);
      expect(times).toEqual(times.toSorted().toReversed());
    });

    it('filters rows and sums by tenant, model, feature, outcome and request', async () => {
      await ledger.insertBatch([
        settledCall(1, { feature: 'search' }),
        settledCall(2, { feature: 'search', outcome: 'timeout' }),
        settledCall(3, { model: 'sim-small' }),
        settledCall(4, { tenant_id: 'globex', workspace: 'globex-prod', outcome: 'timeout' }),
      ]);
      const ids = async (query: Partial<Parameters<Ledger['rows']>[0]>) =>
        (await ledger.rows({ limit: 10, ...query })).rows.map((row) => row.sequence).sort();
      expect(await ids({ feature: 'search' })).toEqual([1, 2]);
      expect(await ids({ workspace: 'acme-prod', outcome: 'timeout' })).toEqual([2]);
      expect(await ids({ outcome: 'timeout' })).toEqual([2, 4]);
      expect(await ids({ model: 'sim-small' })).toEqual([3]);
      expect(await ids({ tenant: 'globex' })).toEqual([4]);
      expect(await ids({ request_id: settledCall(3).request_id })).toEqual([3]);
      expect(await ids({ feature: 'search', outcome: 'ok', model: 'sim-small' })).toEqual([]);
      expect(await ledger.summary({ feature: 'search', outcome: 'timeout' })).toMatchObject({
        calls: 1,
        outcomes: { timeout: 1 },
      });
      expect(await ledger.summary({ tenant: 'acme', model: 'sim-large' })).toMatchObject({ calls: 2 });
    });

    it('refuses a cursor that it did not make', async () => {
      await expect(ledger.rows({ limit: 5, cursor: 'nonsense' })).rejects.toMatchObject({ status: 400 });
    });

    it('leaves refusals out of the summary and shows sums beyond 2^53 exactly as decimals', async () => {
      const most = Number.MAX_SAFE_INTEGER;
      await ledger.insertBatch([
        settledCall(1, { billed_nanousd: most }),
        settledCall(2, { billed_nanousd: most, outcome: 'timeout' }),
        settledCall(3, { outcome: 'throttled', billed_nanousd: 5 }),
      ]);
      expect(await ledger.summary({ workspace: 'acme-prod' })).toMatchObject({
        calls: 2,
        outcomes: { ok: 1, timeout: 1 },
        billed_nanousd: most,
        billed_usd: '18014398.509481982',
        cost_nanousd: 2_468,
      });
      expect(await ledger.summary({ workspace: 'nobody' })).toMatchObject({
        calls: 0,
        cost_nanousd: 0,
        cost_usd: '0',
        outcomes: {},
      });
    });

    it('shows usage of one workspace by step, model and feature', async () => {
      await ledger.insertBatch([
        settledCall(1),
        settledCall(2, { feature: 'search' }),
        settledCall(3, { feature: 'search', occurred_at: '2026-03-10T13:10:00.000Z' }),
        settledCall(4, { workspace: 'globex-prod' }),
      ]);
      expect(await ledger.usage({ workspace: 'acme-prod', step: 'hour' })).toHaveLength(3);
      expect(await ledger.usage({ workspace: 'acme-prod', step: 'day' })).toEqual(
        expect.arrayContaining([
          {
            at: '2026-03-10T00:00:00.000Z',
            model: 'sim-large',
            feature: 'search',
            calls: 2,
            input_tokens: 26,
            output_tokens: 46,
            billed_nanousd: 4_690,
          },
        ]),
      );
    });
  });

  describe('the metering consumer', () => {
    const message = (messageId: string, body: unknown) => ({
      messageId,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      attributes: {},
      receiveCount: 1,
    });

    it('stores the good messages of a batch and names each bad one with its reason', async () => {
      const moved: unknown[] = [];
      const handle = createMeteringHandler({ ledger, onWatermark: (watermarks) => moved.push(...watermarks) });
      const verdict = await handle([
        message('a', settledCall(1)),
        message('b', '{not json'),
        message('c', { ...settledCall(2), schema: 'sluice.event/99' }),
        message('d', settledCall(3, { end_user: 'a\u0000b' })),
        message('e', settledCall(2)),
      ]);
      expect([...verdict.failed.keys()].sort()).toEqual(['b', 'c', 'd']);
      expect(verdict.failed.get('c')).toContain('schema');
      expect(verdict.failed.get('d')).toContain('cannot be stored');
      expect(await count('ledger')).toBe(2);
      expect(moved.at(-1)).toEqual({ gateway_id: 'gw-1', epoch: 1, sequence: 2 });
    });

    it("fails the whole batch when the fault is no message's own, so that all are delivered again and none is acknowledged", async () => {
      await database.db.execute(sql`alter table ledger rename to ledger_away`);
      const acknowledged: unknown[] = [];
      const handle = createMeteringHandler({ ledger, onWatermark: (watermarks) => acknowledged.push(...watermarks) });
      await expect(handle([message('a', settledCall(1))])).rejects.toThrow();
      expect(acknowledged).toEqual([]);
    });
  });
});
