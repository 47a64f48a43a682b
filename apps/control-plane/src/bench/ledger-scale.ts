import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { systemClock } from '@sluice/contracts';
import { startTestServer } from '../db/test-database.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { settledCall } from '../ledger/testing.ts';
import { connectionCpuUs } from './connection-cpu.ts';
import { fillLedger } from './fill-ledger.ts';

/** Memory as in the embedded stack; what is filled in need not survive a power failure. */
const FLAGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=64MB',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=4GB',
  'checkpoint_timeout=1h',
  'autovacuum=off',
];
const ROWS = Number(process.env['LEDGER_ROWS'] ?? '10000000');
const RUNS = 20;
const DAYS = 92;
const START = Date.UTC(2026, 0, 1);
/** Heap and indexes, measured, with some room. */
const BYTES_PER_ROW = 2_000;

class Measured {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

const { bavail, bsize } = await statfs(tmpdir());
if (bavail * bsize < ROWS * BYTES_PER_ROW + 5e9) {
  console.log(
    JSON.stringify({
      skipped: `${ROWS} rows need ${Math.ceil((ROWS * BYTES_PER_ROW + 5e9) / 1e9)} GB in ${tmpdir()}, ${Math.floor((bavail * bsize) / 1e9)} GB are free`,
    }),
  );
  process.exit(0);
}

const progress = (text: string): void => console.error(`     ${text}`);
const server = await startTestServer(process.env, FLAGS);
try {
  const database = await server.createDatabase();
  const ledger = createLedger({ db: database.db, clock: systemClock });
  const figures: Record<string, number> = { rows: ROWS };
  const began = performance.now();
  await fillLedger(database, { rows: ROWS, start: START, days: DAYS }, (filled) => {
    if (filled % 1_000_000 === 0) progress(`${filled} rows after ${Math.round((performance.now() - began) / 1000)} s`);
  });
  figures['fillS'] = (performance.now() - began) / 1000;
  figures['rebuildS'] = (await timed(async () => void (await ledger.rebuildRollups()))) / 1000;
  progress(`rollups made from the rows in ${figures['rebuildS'].toFixed(0)} s`);
  const client = await database.pool.connect();
  await client.query('set statement_timeout = 0');
  await client.query('vacuum analyze');
  client.release();
  const size = await database.pool.query<{ gb: number }>(
    'select (pg_database_size(current_database()) / 1e9)::float8 as gb',
  );
  figures['gigabytes'] = size.rows[0]?.gb ?? NaN;

  const at = (day: number): string => new Date(START + day * 86_400_000).toISOString();
  const month = (run: number) => ({
    from: [at(0), at(31), at(59)][run % 3] ?? at(0),
    to: [at(31), at(59), at(90)][run % 3] ?? at(31),
  });
  const workspace = (run: number): string => `tenant-${run % 10}-0`;
  const middle = (run: number): string => new Date(START + ((run * 37) % DAYS) * 86_400_000 + 12_345_678).toISOString();
  const page = { limit: 100 };
  const cases: Record<string, (run: number) => Promise<unknown>> = {
    monthByDayAndModel: (run) =>
      ledger.usage({ tenant: `tenant-${run % 10}`, step: 'day', by: 'model', ...month(run) }),
    monthByDayModelAndFeature: (run) => ledger.usage({ tenant: `tenant-${run % 10}`, step: 'day', ...month(run) }),
    newestPage: (run) => ledger.rows({ workspace: workspace(run), ...page }),
    pageInTheMiddle: (run) => ledger.rows({ workspace: workspace(run), to: middle(run), ...page }),
    nextPage: async (run) => {
      const first = await ledger.rows({ workspace: workspace(run), to: middle(run), ...page });
      if (first.next_cursor === null) throw new Error('the ledger has no second page');
      return timedOnly(() => ledger.rows({ workspace: workspace(run), cursor: first.next_cursor ?? '', ...page }));
    },
    pageOfEveryTenant: (run) => ledger.rows({ to: middle(run), ...page }),
    pageOfTimeouts: (run) => ledger.rows({ workspace: workspace(run), outcome: 'timeout', ...page }),
    pageOfAFeature: (run) => ledger.rows({ workspace: workspace(run), feature: `feature-${run % 8}`, ...page }),
    pageOfAModel: (run) => ledger.rows({ workspace: workspace(run), model: 'model-c', ...page }),
    oneRequest: async (run) => {
      const { rows } = await ledger.rows({ workspace: workspace(run), to: middle(run), limit: 1 });
      return timedOnly(() => ledger.rows({ request_id: rows[0]?.request_id, ...page }));
    },
    summaryOfAllTime: () => ledger.summary({}),
    summaryOfARaggedRange: (run) => ledger.summary({ workspace: workspace(run), from: middle(run) }),
    insert500: (run) =>
      ledger.insertBatch(
        Array.from({ length: 500 }, (_, i) => settledCall(run * 500 + i + 1, { occurred_at: at(91) })),
      ),
  };
  for (const [name, work] of Object.entries(cases)) {
    const times: number[] = [];
    const cpuBefore = process.cpuUsage();
    const databaseBefore = await connectionCpuUs(database.pool);
    for (let run = 0; run < RUNS; run += 1) times.push(await timed(async () => work(run)));
    const cpu = process.cpuUsage(cpuBefore);
    figures[`${name}CpuMs`] =
      (cpu.user + cpu.system + (await connectionCpuUs(database.pool)) - databaseBefore) / RUNS / 1_000;
    times.sort((a, b) => a - b);
    figures[`${name}MsP50`] = times[RUNS / 2] ?? NaN;
    figures[`${name}MsMax`] = times[RUNS - 1] ?? NaN;
    progress(
      `${name}: median ${figures[`${name}MsP50`]?.toFixed(1)} ms, slowest ${figures[`${name}MsMax`]?.toFixed(1)} ms, CPU ${figures[`${name}CpuMs`]?.toFixed(1)} ms`,
    );
  }
  const summary = await ledger.summary({});
  figures['calls'] = summary.calls;
  figures['differences'] = (await ledger.checkRollups({ from: at(30), to: at(32) })).length;
  console.log(JSON.stringify(figures));
} finally {
  await server.stop();
}

/** Measures a part of a case; what came before it does not count. */
async function timedOnly(work: () => Promise<unknown>): Promise<Measured> {
  return new Measured(await timed(work));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const result = await work();
  return result instanceof Measured ? result.ms : performance.now() - began;
}
