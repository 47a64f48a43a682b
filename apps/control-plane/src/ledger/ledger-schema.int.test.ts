import { getTableColumns, sql } from 'drizzle-orm';
import { createFakeClock } from '@sluice/testing';
import { MIGRATIONS } from '../db/migrations.ts';
import type { Database } from '../db/open-database.ts';
import { ledgerTable, rollupTables } from '../db/schema.ts';
import { testServers, type TestServer } from '../db/test-database.ts';
import { createLedger } from './create-ledger.ts';
import { settledCall } from './testing.ts';

const clock = createFakeClock(Date.parse('2026-03-10T12:00:00.000Z'));

describe.each(testServers())('the schema of the ledger on $name', ({ start }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  const count = async ({ db }: Database, table: string): Promise<number> =>
    Number((await db.execute<{ n: string }>(sql`select count(*) as n from ${sql.identifier(table)}`)).rows[0]?.n);

  it('has the columns that statements are written against, with their types', async () => {
    const { db } = await server.createDatabase();
    for (const [name, table] of [
      ['ledger', ledgerTable],
      ['rollup_hour', rollupTables.hour],
      ['rollup_day', rollupTables.day],
    ] as const) {
      const found = await db.execute<{ name: string; type: string; required: boolean }>(sql`
        select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required from pg_attribute
        where attrelid = ${name}::regclass and attnum > 0 and not attisdropped`);
      const declared = Object.values(getTableColumns(table)).map((column) => ({
        name: column.name,
        type: column.getSQLType().replace('numeric(38)', 'numeric(38,0)'),
        required: column.notNull,
      }));
      const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
      expect(found.rows.toSorted(byName)).toEqual(declared.toSorted(byName));
    }
  });

  it('refuses to change, delete or truncate rows, in the ledger and in each partition, to its owner too', async () => {
    const database = await server.createDatabase();
    await createLedger({ db: database.db, clock }).insertBatch([
      settledCall(1),
      settledCall(2, { occurred_at: '2045-01-01T00:00:00.000Z' }),
    ]);
    for (const table of ['ledger', 'ledger_2026_03', 'ledger_default']) {
      for (const statement of [
        `update ${table} set billed_nanousd = 0`,
        `delete from ${table}`,
        `truncate ${table}`,
        `update ${table} set occurred_at = occurred_at + interval '1 month'`,
      ]) {
        await expect(database.pool.query(statement)).rejects.toMatchObject({
          code: '55000',
          message: expect.stringContaining('append-only'),
        });
      }
    }
    expect(await count(database, 'ledger')).toBe(2);
  });

  it('has partitions for this month and the next two before any event, and makes those of late and early events when they come', async () => {
    const database = await server.createDatabase();
    const ledger = createLedger({ db: database.db, clock });
    await ledger.prepare();
    expect(
      await Promise.all(['ledger_2026_03', 'ledger_2026_04', 'ledger_2026_05'].map((part) => count(database, part))),
    ).toEqual([0, 0, 0]);
    await ledger.insertBatch([
      settledCall(1, { occurred_at: '2026-03-31T23:59:59.999Z' }),
      settledCall(2, { occurred_at: '2026-04-01T00:00:00.000Z' }),
      settledCall(3, { occurred_at: '2025-01-01T00:00:00.000Z' }),
      settledCall(4, { occurred_at: '2040-01-01T00:00:00.000Z' }),
      settledCall(5, { occurred_at: '1999-01-01T00:00:00.000Z' }),
    ]);
    expect(
      await Promise.all(
        ['ledger_2026_03', 'ledger_2026_04', 'ledger_2025_01', 'ledger_default'].map((part) => count(database, part)),
      ),
    ).toEqual([1, 1, 1, 2]);
  });

  it('moves rows of a far-off month out of the default partition once that month is near, and holds them on', async () => {
    const database = await server.createDatabase();
    const far = settledCall(3, { occurred_at: '2040-01-01T00:00:00.000Z' });
    await createLedger({ db: database.db, clock }).insertBatch([
      far,
      settledCall(4, { occurred_at: '2041-01-01T00:00:00.000Z' }),
    ]);
    const later = createLedger({ db: database.db, clock: createFakeClock(Date.parse('2040-01-02T00:00:00.000Z')) });
    expect(await later.insertBatch([far])).toMatchObject({ inserted: 0, duplicates: 1 });
    expect([await count(database, 'ledger_2040_01'), await count(database, 'ledger_default')]).toEqual([1, 1]);
    expect(await later.checkRollups()).toEqual([]);
    await expect(database.pool.query('delete from ledger_default')).rejects.toMatchObject({ code: '55000' });
    await expect(database.pool.query('delete from ledger_2040_01')).rejects.toMatchObject({ code: '55000' });
  });

  it('takes over what former schemas wrote, row by row and sum by sum', async () => {
    const database = await server.createDatabase({ empty: true });
    await database.migrate(
      MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({ id }) => id === '0005-ledger-append-only'),
      ),
    );
    await database.pool.query(FORMER);
    const before = await database.pool.query<{ sum: string }>('select sum(billed_nanousd) as sum from ledger');
    await database.migrate();
    const ledger = createLedger({ db: database.db, clock });
    const { rows } = await ledger.rows({ limit: 10 });
    expect(rows.map((row) => [row.kind, row.occurred_at, row.billed_nanousd])).toEqual([
      ['call', '2045-01-01T00:00:00.000000Z', 7],
      ['call', '2026-03-10T12:00:00.000000Z', 2_345],
    ]);
    expect(await ledger.summary({})).toMatchObject({ calls: 2, billed_nanousd: Number(before.rows[0]?.sum) });
    // The same event again is known, and what is there can no longer be changed.
    expect(await ledger.insertBatch([settledCall(1)])).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await ledger.checkRollups()).toEqual([]);
    await expect(database.pool.query('truncate ledger_default')).rejects.toMatchObject({ code: '55000' });
  });
});

const formerRow = (n: number, at: string, billed: number): string => {
  const call = settledCall(n);
  return `('${at}', '${call.event_id}', 'gw-1', 1, ${n}, '${call.request_id}', 'acme', 'acme-prod', '${call.workspace_id}', 'cell-shared-1', 'key00001', 'chat', false,
    'sim-large', '{}', 'ok', 200, 'complete', 'primary', 'sim-large', false, 'standard', 'off', 10, 1, 2, 20, 3, 0, 'provider', 1234, ${billed}, 1, 12, 256, 900, 0.5, 300, 900.25,
    '${JSON.stringify(call.attempts)}')`;
};

/** Two rows as the statements of the former schema wrote them, one of them in the default partition. */
const FORMER = `
  select ledger_partition('2026-03-01T00:00:00Z');
  insert into ledger (occurred_at, event_id, gateway_id, epoch, sequence, request_id, tenant_id, workspace, workspace_id, cell_id, key_id, operation, stream,
    model_requested, tags, outcome, status, abort_case, provider, model, fallback, priority, cache, tokens_input, tokens_cache_read, tokens_cache_write, tokens_output,
    tokens_reasoning, tokens_audio, usage_source, cost_nanousd, billed_nanousd, price_version, estimate_input_tokens, estimate_output_tokens, overhead_us, queue_ms, ttfb_ms, total_ms, attempts)
  values ${formerRow(1, '2026-03-10T12:00:00.000Z', 2_345)}, ${formerRow(2, '2045-01-01T00:00:00.000Z', 7)};
  insert into rollup_hour select date_trunc('hour', occurred_at at time zone 'UTC') at time zone 'UTC', tenant_id, workspace, model, provider, '', outcome, 1, 1,
    10, 1, 2, 20, 3, 0, 1234, billed_nanousd from ledger;
  insert into rollup_day select date_trunc('day', occurred_at at time zone 'UTC') at time zone 'UTC', tenant_id, workspace, model, provider, '', outcome, 1, 1,
    10, 1, 2, 20, 3, 0, 1234, billed_nanousd from ledger;`;
