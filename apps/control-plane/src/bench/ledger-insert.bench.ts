import { systemClock, type CallSettled } from '@sluice/contracts';
import { createIds } from '@sluice/service-kit';
import { startTestServer } from '../db/test-database.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import { settledCall } from '../ledger/testing.ts';
import { connectionCpuUs } from './connection-cpu.ts';

/** As the embedded stack's server runs: everything is written durably. */
const FLAGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'shared_buffers=64MB'];
const EVENTS = 20_000;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? '3');
const ids = createIds({ clock: systemClock });
let sequence = 0;

/** Events as gateways send them: several workspaces, models and features, ids that sort by time. */
function nextEvent(): CallSettled {
  sequence += 1;
  const requestId = ids.requestId();
  return settledCall(1, {
    request_id: requestId,
    event_id: `${requestId}.settled`,
    occurred_at: new Date(systemClock.now()).toISOString(),
    sequence,
    workspace: `workspace-${sequence % 20}`,
    model: ['sim-small', 'sim-medium', 'sim-large'][sequence % 3] ?? 'sim-small',
    outcome: sequence % 20 === 0 ? 'timeout' : 'ok',
    tags: { team: `team-${sequence % 5}` },
    ...(sequence % 2 === 0 && { feature: `feature-${sequence % 7}` }),
  });
}

interface Shape {
  readonly name: string;
  /** Events of one call of `insertBatch`. */
  readonly batch: number;
  /** Calls of `insertBatch` at a time. */
  readonly callers: number;
  /** Of every batch this many events were sent before. */
  readonly repeated: number;
}

const SHAPES: readonly Shape[] = [
  { name: 'batches of 500', batch: 500, callers: 1, repeated: 0 },
  { name: 'batches of 10 from 32 receivers, written in groups', batch: 10, callers: 32, repeated: 0 },
  { name: 'batches of 500, half of them sent twice', batch: 500, callers: 1, repeated: 250 },
  { name: 'batches of 10 from one receiver', batch: 10, callers: 1, repeated: 0 },
];

const server = await startTestServer(process.env, FLAGS);
try {
  console.log(
    `Ledger: rows, rollups and positions in one durable transaction, PostgreSQL from npm; ${ROUNDS} rounds of up to ${EVENTS} events; median / min / max events/s`,
  );
  for (const shape of SHAPES) {
    const rounds: Measured[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(shape));
    const rates = rounds.map((round) => round.perSecond).sort((a, b) => a - b);
    const text = [rates[Math.floor(rates.length / 2)], rates[0], rates.at(-1)]
      .map((rate) => Math.round(rate ?? NaN))
      .join(' / ');
    const cpu = (pick: (round: Measured) => number): string =>
      (rounds.reduce((sum, round) => sum + pick(round), 0) / ROUNDS).toFixed(0);
    console.log(
      `  ${shape.name.padEnd(52)} ${text.padEnd(22)} CPU µs/event: writer ${cpu((round) => round.writerUs)}, database ${cpu((round) => round.databaseUs)}`,
    );
  }
} finally {
  await server.stop();
}

interface Measured {
  readonly perSecond: number;
  /** CPU of this process and of the server's connections, microseconds for each event. */
  readonly writerUs: number;
  readonly databaseUs: number;
}

/** A ledger of its own is written. @throws Error when a row is missing or too many. */
async function measure({ batch, callers, repeated }: Shape): Promise<Measured> {
  const { db, pool } = await server.createDatabase();
  const ledger = createLedger({ db, clock: systemClock });
  await ledger.prepare();
  const total = callers === 1 && batch < 100 ? Math.min(EVENTS, 3_000) : EVENTS;
  const batches: CallSettled[][] = [];
  for (let n = 0; n < total; n += batch) {
    const before = batches.at(-1)?.slice(-repeated) ?? [];
    batches.push(
      repeated === 0 || before.length === 0
        ? Array.from({ length: batch }, nextEvent)
        : [...before, ...Array.from({ length: batch - repeated }, nextEvent)],
    );
  }
  const distinct = new Set(batches.flat().map((event) => event.event_id)).size;
  const waiting = batches.values();
  const databaseBefore = await connectionCpuUs(pool);
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (const events of waiting) await ledger.insertBatch(events);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const databaseUs = (await connectionCpuUs(pool)) - databaseBefore;
  const { rows } = await ledger.head();
  if (rows !== distinct) throw new Error(`${distinct} events were sent, the ledger holds ${rows}`);
  const sent = batches.length * batch;
  return { perSecond: sent / seconds, writerUs: (cpu.user + cpu.system) / sent, databaseUs: databaseUs / sent };
}
