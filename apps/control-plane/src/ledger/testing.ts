import { EVENT_SCHEMA, settledEventId, type CallSettled } from '@sluice/contracts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A valid request id for a number below 32^6. */
export function requestIdOf(n: number): string {
  let text = '';
  for (let rest = n, i = 0; i < 6; i += 1, rest = Math.floor(rest / 32)) text = `${ALPHABET[rest % 32]}${text}`;
  return `req_${'0'.repeat(20)}${text}`;
}

/** A settled call for tests; `n` gives it its id and its place in the sequence. */
export function settledCall(n: number, overrides: Partial<CallSettled> = {}): CallSettled {
  const usage = { input: 10, cache_read: 1, cache_write: 2, output: 20, reasoning: 3, audio: 0 };
  return {
    schema: EVENT_SCHEMA,
    type: 'call.settled',
    event_id: settledEventId(requestIdOf(n)),
    occurred_at: '2026-03-10T12:00:00.000Z',
    gateway_id: 'gw-1',
    epoch: 1,
    sequence: n,
    request_id: requestIdOf(n),
    tenant_id: 'acme',
    workspace: 'acme-prod',
    workspace_id: '3f2c1c9e-0d7b-4a55-9d3b-1f0a4f1e2a10',
    cell_id: 'cell-shared-1',
    key_id: 'key00001',
    operation: 'chat',
    stream: false,
    model_requested: 'sim-large',
    tags: {},
    outcome: 'ok',
    status: 200,
    abort_case: 'complete',
    provider: 'primary',
    model: 'sim-large',
    fallback: false,
    priority: 'standard',
    cache: 'off',
    usage,
    usage_source: 'provider',
    cost_nanousd: 1_234,
    billed_nanousd: 2_345,
    price_version: 1,
    estimate: { input_tokens: 12, output_tokens: 256 },
    latency: { overhead_us: 900, queue_ms: 0.5, ttfb_ms: 300, total_ms: 900.25 },
    attempts: [
      {
        index: 0,
        provider: 'primary',
        credential: 'main',
        model: 'sim-large',
        provider_model: 'sim-large',
        outcome: 'ok',
        status: 200,
        usage,
        usage_source: 'provider',
        cost_nanousd: 1_234,
        queue_ms: 0,
        ttfb_ms: 300,
        duration_ms: 899,
      },
    ],
    ...overrides,
  };
}
