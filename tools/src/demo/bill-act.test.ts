import type { LedgerRow } from '@sluice/contracts';
import { sentences } from './bill-act.ts';

const usage = { input: 7, cache_read: 0, cache_write: 0, output: 20, reasoning: 0, audio: 0 };
const attempt = {
  index: 0,
  provider: 'primary',
  outcome: 'connect_error',
  usage: { ...usage, input: 0, output: 0 },
  cost_nanousd: 0,
};
const row = {
  request_id: 'req_1',
  workspace: 'acme-prod',
  model_requested: 'sim-small',
  fallback: true,
  fallback_reason: 'breaker_open',
  billed_nanousd: 5_000,
  price_version: 1,
  latency: { overhead_us: 800, total_ms: 412.3 },
  attempts: [attempt, { ...attempt, index: 1, provider: 'secondary', outcome: 'ok', usage, cost_nanousd: 4_000 }],
} as unknown as LedgerRow;

describe('the bill of one request', () => {
  it('names each attempt with its tokens and cost, and what is billed once', () => {
    expect(sentences(row)).toEqual([
      '  req_1 of acme-prod asked for sim-small; it took 412 ms, 800 µs of it ours before the first byte.',
      '  attempt 1: primary, connect error, 0 tokens, costs us $0.0000000',
      '  attempt 2: secondary, ok, 27 tokens, costs us $0.0000040',
      '  One row, billed $0.0000050 by price book 1.',
    ]);
  });

  it('says why a provider was passed over where it was not even tried', () => {
    expect(sentences({ ...row, attempts: row.attempts.slice(1) })).toContain(
      '  The first provider was passed over: breaker open.',
    );
  });
});
