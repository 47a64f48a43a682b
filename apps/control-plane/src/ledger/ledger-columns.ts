import type { CallSettled } from '@sluice/contracts';

/** Type of each column of `ledger`, in the order of inserting; the one list that writing is generated from. */
export const LEDGER_COLUMNS = {
  occurred_at: 'timestamptz', event_id: 'text', traceparent: 'text',
  gateway_id: 'text', epoch: 'bigint', sequence: 'bigint',
  request_id: 'text', client_request_id: 'text', tenant_id: 'text', workspace: 'text', workspace_id: 'text',
  cell_id: 'text', key_id: 'text', operation: 'text', stream: 'boolean', model_requested: 'text',
  feature: 'text', tags: 'jsonb', end_user: 'text',
  outcome: 'text', error_code: 'text', status: 'integer', abort_case: 'text', provider: 'text', model: 'text',
  fallback: 'boolean', fallback_reason: 'text', decision_id: 'text', priority: 'text', cache: 'text',
  tokens_input: 'bigint', tokens_cache_read: 'bigint', tokens_cache_write: 'bigint',
  tokens_output: 'bigint', tokens_reasoning: 'bigint', tokens_audio: 'bigint',
  usage_source: 'text', cost_nanousd: 'bigint', billed_nanousd: 'bigint', price_version: 'integer',
  estimate_input_tokens: 'bigint', estimate_output_tokens: 'bigint', finish_reason: 'text',
  overhead_us: 'bigint', queue_ms: 'double precision', ttfb_ms: 'double precision', total_ms: 'double precision',
  attempts: 'jsonb',
} as const;

type LedgerRecord = Record<keyof typeof LEDGER_COLUMNS, unknown>;

/** An event as the flat record of its row. */
export function ledgerRecord(event: CallSettled): LedgerRecord {
  const { schema: _schema, type: _type, usage, estimate, latency, ...flat } = event;
  return {
    ...emptyOptionals,
    ...flat,
    tokens_input: usage.input,
    tokens_cache_read: usage.cache_read,
    tokens_cache_write: usage.cache_write,
    tokens_output: usage.output,
    tokens_reasoning: usage.reasoning,
    tokens_audio: usage.audio,
    estimate_input_tokens: estimate.input_tokens,
    estimate_output_tokens: estimate.output_tokens,
    overhead_us: latency.overhead_us,
    queue_ms: latency.queue_ms,
    ttfb_ms: latency.ttfb_ms ?? null,
    total_ms: latency.total_ms,
  };
}

const emptyOptionals = {
  traceparent: null, client_request_id: null, feature: null, end_user: null, error_code: null,
  provider: null, model: null, fallback_reason: null, decision_id: null, finish_reason: null,
};
