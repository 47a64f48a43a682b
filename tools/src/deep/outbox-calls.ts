import {
  EVENT_SCHEMA,
  settledEventId,
  startedEventId,
  type CallSettled,
  type CallStarted,
  type EventOrigin,
} from '@sluice/contracts';

/** The driver's calls are of this workspace: no demo traffic uses it. */
export const DRIVEN_WORKSPACE = 'acme-staging';

const identity = (requestId: string, at: number) => ({
  schema: EVENT_SCHEMA as typeof EVENT_SCHEMA,
  occurred_at: new Date(at).toISOString(),
  request_id: requestId,
  tenant_id: 'acme',
  workspace: DRIVEN_WORKSPACE,
  workspace_id: '6d1f2c1e-5a0b-4b7e-9a53-0c1f6f0e7a21',
  cell_id: 'cell-shared-1',
  key_id: 'driver0001',
  operation: 'chat' as const,
  stream: false,
  model_requested: 'sim-small',
  tags: {},
});

/** The start of a call as a gateway records it. */
export function drivenStart(requestId: string, at: number): CallStarted {
  return {
    ...identity(requestId, at),
    event_id: startedEventId(requestId),
    type: 'call.started',
    reservation: { input_tokens: 10, output_tokens: 20, cost_nanousd: 300 },
    provider: 'primary',
    model: 'sim-small',
    price_version: 1,
    billed_price: { input_picousd: 1_000, output_picousd: 2_000 },
    priority: 'standard',
  };
}

/** Its end. */
export function drivenEnd(
  requestId: string,
  at: number,
  outcome: 'ok' | 'interrupted',
): Omit<CallSettled, keyof EventOrigin> {
  return {
    ...identity(requestId, at),
    event_id: settledEventId(requestId),
    type: 'call.settled',
    outcome,
    status: outcome === 'ok' ? 200 : 0,
    abort_case: outcome === 'ok' ? 'complete' : 'interrupted',
    provider: 'primary',
    model: 'sim-small',
    fallback: false,
    priority: 'standard',
    cache: 'off',
    usage: { input: 10, cache_read: 0, cache_write: 0, output: outcome === 'ok' ? 20 : 0, reasoning: 0, audio: 0 },
    usage_source: 'provider',
    cost_nanousd: 250,
    billed_nanousd: 300,
    price_version: 1,
    estimate: { input_tokens: 10, output_tokens: 20 },
    latency: { overhead_us: 100, queue_ms: 0, total_ms: 5 },
    attempts: [],
  };
}
