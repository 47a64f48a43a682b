import { createFakeClock } from '@sluice/testing';
import { inputTokens, outputTokens, type CallSettled } from '@sluice/contracts';
import { startTestServer, type TestServer } from '../db/test-database.ts';
import { createLedger } from './create-ledger.ts';
import { settledCall } from './testing.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const EPOCH = 1_790_000_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('what the ledger tells a gateway that lost its quota counters', () => {
  it('are the sums by key and step since each span began, without the calls that the gateway counts itself', async () => {
    const database = await server.createDatabase();
    const clock = createFakeClock(NOW);
    const ledger = createLedger({ db: database.db, clock });
    const calls: CallSettled[] = Array.from({ length: 60 }, (_, n) =>
      settledCall(n + 1, {
        epoch: n % 3 === 0 ? EPOCH : EPOCH + 5,
        gateway_id: n % 5 === 0 ? 'gw-2' : 'gw-1',
        key_id: `key0000${n % 4}`,
        // Also at the first and the last millisecond of a step.
        occurred_at: new Date(NOW - n * 150_000 - (n % 2)).toISOString(),
        usage: { input: n, cache_read: 1, cache_write: 2, output: 10 * n, reasoning: 3, audio: 4 },
        billed_nanousd: 1_000 * n,
      }),
    );
    await ledger.insertBatch(calls);
    const except = [{ epoch: EPOCH + 5, from: 20 }];
    const spans = [
      { from_ms: NOW - 65 * 60_000, step_ms: 300_000 },
      { from_ms: NOW - 3_600_000 },
      { from_ms: NOW - 7_000_000, step_ms: 7_000 },
    ];
    const answer = await ledger.quotaUse({ gateway_id: 'gw-1', except, spans });

    const expected = spans.map(({ from_ms, step_ms }) => {
      const sums = new Map<string, number[]>();
      for (const call of calls) {
        const at = Date.parse(call.occurred_at);
        if (at < from_ms || (call.gateway_id === 'gw-1' && call.epoch === EPOCH + 5 && call.sequence >= 20)) continue;
        const id = `${call.key_id} ${step_ms === undefined ? from_ms : Math.floor(at / step_ms) * step_ms}`;
        const sum = sums.get(id) ?? [0, 0, 0];
        sums.set(id, [
          (sum[0] ?? 0) + inputTokens(call.usage),
          (sum[1] ?? 0) + outputTokens(call.usage),
          (sum[2] ?? 0) + call.billed_nanousd,
        ]);
      }
      return [...sums].map(([id, sum]) => `${id}: ${sum.join(' ')}`).sort();
    });
    const got = answer.spans.map((uses) =>
      uses
        .map((use) => `${use.key_id} ${use.at_ms}: ${use.input_tokens} ${use.output_tokens} ${use.billed_nanousd}`)
        .sort(),
    );
    expect(got).toEqual(expected);
    expect(got[0]?.length).toBeGreaterThan(10);
    expect(answer.spans[1]?.[0]).toMatchObject({ tenant_id: 'acme', workspace_id: calls[0]?.workspace_id });
  });
});
