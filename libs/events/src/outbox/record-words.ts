/**
 * Strings that records hold again and again, as names of members or as values. On the disk each is one byte, its place in this
 * list. Only ever add at the end, and no more than 254 in all: by it records are read that an earlier version wrote.
 */
export const RECORD_WORDS: readonly string[] = [
  // Names.
  'schema', 'event_id', 'type', 'occurred_at', 'traceparent', 'gateway_id', 'request_id', 'client_request_id', 'tenant_id', 'workspace',
  'workspace_id', 'cell_id', 'key_id', 'operation', 'stream', 'model_requested', 'feature', 'tags', 'end_user', 'reservation',
  'input_tokens', 'output_tokens', 'cost_nanousd', 'provider', 'model', 'price_version', 'billed_price', 'provider_price', 'input_picousd', 'output_picousd',
  'priority', 'decision', 'shadow', 'outcome', 'error_code', 'status', 'abort_case', 'fallback', 'fallback_reason', 'decision_id',
  'cache', 'usage', 'usage_source', 'billed_nanousd', 'estimate', 'finish_reason', 'latency', 'overhead_us', 'queue_ms', 'ttfb_ms',
  'total_ms', 'attempts', 'index', 'credential', 'provider_model', 'duration_ms', 'input', 'cache_read', 'cache_write', 'output',
  'reasoning', 'audio',
  // Values; some of the names are values too.
  'sluice.event/1', 'call.started', 'call.settled', 'chat', 'messages', 'responses', 'embeddings', 'count_tokens', 'ok', 'complete',
  'interrupted', 'standard', 'off', 'miss', 'hit', 'stale', 'stop',
];
