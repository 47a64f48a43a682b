import { CallSettled } from './events.ts';

const SETTLED = {
  schema: 'sluice.event/1',
  event_id: 'e',
  type: 'call.settled',
  occurred_at: '2026-06-01T00:00:00.000Z',
  gateway_id: 'gw-1',
  epoch: 1,
  sequence: 1,
  request_id: 'req_01JDZZZZZZZZZZZZZZZZZZZZZZ',
  tenant_id: 'acme',
  workspace: 'acme-prod',
  workspace_id: '00000000-0000-4000-8000-000000000001',
  cell_id: 'cell-1',
  key_id: 'acmekey001',
  operation: 'chat',
  stream: false,
  model_requested: 'auto',
  outcome: 'ok',
  status: 200,
  abort_case: 'complete',
  fallback: false,
  decision_id: '01JDZZZZZZZZZZZZZZZZZZZZZZ',
  priority: 'standard',
  cache: 'off',
  usage: { input: 1, cache_read: 0, cache_write: 0, output: 1, reasoning: 0, audio: 0 },
  usage_source: 'provider',
  cost_nanousd: 1,
  billed_nanousd: 2,
  price_version: 1,
  estimate: { input_tokens: 1, output_tokens: 1 },
  latency: { overhead_us: 1, queue_ms: 0, total_ms: 1 },
  attempts: [],
};

it.each([
  ['its decision', { decision: { propensity: null } }],
  ['its shadow', { shadow: 'x' }],
])('a settled call is read, with its bill and its decision id, although %s cannot be', (_what, broken) => {
  const read = CallSettled.parse({ ...SETTLED, ...broken });
  expect(read).toMatchObject({ billed_nanousd: 2, decision_id: SETTLED.decision_id });
  expect([read.decision, read.shadow]).toEqual([undefined, undefined]);
});
