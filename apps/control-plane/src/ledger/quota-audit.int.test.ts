import { createFakeClock } from '@sluice/testing';
import { zeroUsage, type QuotaAuditRequest } from '@sluice/contracts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger } from './create-ledger.ts';
import { settledCall } from './testing.ts';

const MONTH = Date.parse('2026-03-01T00:00:00.000Z');
const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const EPOCH = 1_790_000_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
}, 60_000);
afterAll(() => server.stop());

async function ledgerOf(count: number) {
  const database = await server.createDatabase();
  const clock = createFakeClock(NOW);
  const ledger = createLedger({ db: database.db, clock });
  const calls = Array.from({ length: count }, (_, n) =>
    settledCall(n + 1, {
      epoch: EPOCH,
      sequence: n + 1,
      gateway_id: 'gw-1',
      occurred_at: new Date(NOW - n * 600_000).toISOString(),
      usage: { ...zeroUsage(), input: 100 },
      billed_nanousd: 7,
    }),
  );
  await ledger.insertBatch(calls);
  const first = calls[0];
  if (first === undefined) throw new Error('no call');
  const ask = (more: Partial<QuotaAuditRequest['levels'][number]>) =>
    ledger.quotaAudit({
      levels: [{ tenant_id: first.tenant_id, level: 'tenant', id: first.tenant_id, counted: [], spans: [], ...more }],
    });
  return { ledger, calls, first, ask, clock };
}

const counted = (runs: [number, number][], epoch = EPOCH) => [{ gateway_id: 'gw-1', epoch, runs, earlier: [] }];

describe('what the ledger answers on an audit of quota counters', () => {
  it('is the sum of exactly the calls that the counters hold, and of all calls of other gateways', async () => {
    const { ask, first } = await ledgerOf(10);
    const input = async (runs: [number, number][], epoch = EPOCH) =>
      (await ask({ counted: counted(runs, epoch), spans: [{ from_ms: MONTH }] })).levels[0]?.spans[0]?.[0]
        ?.input_tokens ?? 0;
    expect(await input([[1, 10]])).toBe(1_000);
    expect(
      await input([
        [1, 3],
        [6, 6],
      ]),
    ).toBe(400);
    expect(await input([])).toBe(0);
    expect(await input([], EPOCH + 1)).toBe(1_000);
    expect(await input([[1, 10]], EPOCH - 1)).toBe(0);
    const of = async (level: 'workspace' | 'key', id: string) =>
      (await ask({ level, id, spans: [{ from_ms: MONTH }] })).levels[0]?.spans[0]?.length;
    expect([
      await of('key', first.key_id),
      await of('key', 'key99999'),
      await of('workspace', first.workspace_id),
    ]).toEqual([1, 0, 1]);
  }, 30_000);

  it('says whether the ledger holds every call that was named', async () => {
    const { ask } = await ledgerOf(5);
    const held = async (runs: [number, number][], earlier: { epoch: number; last: number }[] = []) =>
      (await ask({ counted: [{ gateway_id: 'gw-1', epoch: EPOCH, runs, earlier }] })).levels[0]?.held;
    expect([await held([[1, 5]]), await held([[1, 6]]), await held([])]).toEqual([true, false, true]);
    expect(await held([[1, 5]], [{ epoch: EPOCH - 1, last: 1 }])).toBe(false);
  }, 30_000);

  it('holds a correction in the month in which it is booked, and in the step of the call that it corrects', async () => {
    const { ledger, ask, calls, clock, first } = await ledgerOf(3);
    const corrected = calls[2];
    if (corrected === undefined) throw new Error('no call');
    expect((await ledger.corrections(clock.now())).keys).toEqual([]);
    await ledger.correct({
      request_id: corrected.request_id,
      id: 'c1',
      reason: 'the provider counted wrongly',
      tokens: { input: -90 },
      cost_nanousd: 0,
      billed_nanousd: -5,
    });
    const step = 300_000;
    const answer = await ask({ spans: [{ from_ms: MONTH }, { from_ms: NOW - 3_600_000, step_ms: step }] });
    expect(answer.levels[0]?.spans[0]).toMatchObject([{ at_ms: MONTH, input_tokens: 210, billed_nanousd: 16 }]);
    expect(new Map(answer.levels[0]?.spans[1]?.map(({ at_ms, input_tokens }) => [at_ms, input_tokens]))).toEqual(
      new Map([
        [NOW, 100],
        [NOW - 2 * step, 100],
        [NOW - 4 * step, 10],
      ]),
    );
    expect((await ledger.corrections(clock.now())).keys).toEqual([
      { tenant_id: first.tenant_id, workspace_id: first.workspace_id, key_id: first.key_id, corrections: 1 },
    ]);
  }, 30_000);
});
