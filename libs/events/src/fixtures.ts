import {
  EVENT_SCHEMA,
  settledEventId,
  startedEventId,
  zeroUsage,
  type CallSettled,
  type CallStarted,
  type EventOrigin,
} from '@sluice/contracts';

/** Request id number `n`, for tests. */
export const requestIdOf = (n: number): string => `req_${String(n).padStart(26, '0')}`;

const identity = (n: number) => ({
  schema: EVENT_SCHEMA as typeof EVENT_SCHEMA,
  occurred_at: new Date(1_700_000_000_000).toISOString(),
  request_id: requestIdOf(n),
  tenant_id: 'acme',
  workspace: 'acme-prod',
  workspace_id: '0b8c5a60-8d0e-4c62-9f0e-0e6f4f5b1a10',
  cell_id: 'cell-shared-1',
  key_id: 'key_0001',
  operation: 'chat' as const,
  stream: true,
  model_requested: 'm',
  tags: {},
});

/** For tests: the start of call `n`. */
export function startedCall(n: number): CallStarted {
  return {
    ...identity(n),
    event_id: startedEventId(requestIdOf(n)),
    type: 'call.started',
    reservation: { input_tokens: 1, output_tokens: 1, cost_nanousd: 1 },
    provider: 'sim',
    model: 'm',
    price_version: 1,
    billed_price: { input_picousd: 1, output_picousd: 1 },
    priority: 'standard',
  };
}

/** For tests: the end of call `n`, before the outbox gives it its origin. */
export function settledCall(n: number): Omit<CallSettled, keyof EventOrigin> {
  return {
    ...identity(n),
    event_id: settledEventId(requestIdOf(n)),
    type: 'call.settled',
    outcome: 'ok',
    status: 200,
    abort_case: 'complete',
    fallback: false,
    priority: 'standard',
    cache: 'off',
    usage: zeroUsage(),
    usage_source: 'provider',
    cost_nanousd: 1,
    billed_nanousd: 1,
    price_version: 1,
    estimate: { input_tokens: 1, output_tokens: 1 },
    latency: { overhead_us: 1, queue_ms: 0, total_ms: 1 },
    attempts: [],
  };
}
