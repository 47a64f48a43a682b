import { CallSettled, CallStarted } from '@sluice/contracts';
import { settledCall, startedCall } from '../fixtures.ts';
import { settledText, startedText } from './record-text.ts';

const AWKWARD = 'quote " backslash \\ newline \n bell \u0007 snow \u2603 pair \ud83d\ude00 half \ud83d end';
const USAGE = { input: 1, cache_read: 2, cache_write: 3, output: 4, reasoning: 5, audio: 6 };
const IDENTITY = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  client_request_id: AWKWARD,
  model_requested: AWKWARD,
  feature: AWKWARD,
  tags: { [AWKWARD]: AWKWARD, team: 'a' },
  end_user: AWKWARD,
};
const ULID = '01JDZZZZZZZZZZZZZZZZZZZZZZ';
const ROUTED = {
  decision: {
    decision_id: ULID, feature_class: AWKWARD, features: [0.1, 1e-9], arms: [{ model: 'm', cost_nanousd: 1, probability: 0.123456789012345678, mean: 0.1, width: 0.2 }], chosen: 'm', base: 'm', fallback: false,
    propensity: 0.123456789012345678, u: 0.3, alpha: 1, gamma: 2, floor: 0.01, rejected_floor: 0, rule: 'cheapest', cost_weight: 0.2, latency_share: 0, threshold: { value: 0.7, base: 0.7, difficulty: 0, pressure: 0, budget: 0 }, evaluated: true,
  },
  shadow: { rollout_id: ULID, policy_version: 'v2', error: AWKWARD },
} as const;
const STARTED = { ...startedCall(1), ...IDENTITY, ...ROUTED, provider_price: { input_picousd: 7, output_picousd: 8 } } as unknown as CallStarted;
const ATTEMPT = { index: 0, provider: 'p', credential: 'c', model: 'm', provider_model: AWKWARD, outcome: 'ok', status: 200, usage: USAGE, usage_source: 'provider', cost_nanousd: 9, queue_ms: 0.25, ttfb_ms: 1.5, duration_ms: 2 } as const;
const { status: _status, ttfb_ms: _ttfb, ...BARE_ATTEMPT } = ATTEMPT;
const SETTLED = {
  ...settledCall(1), ...IDENTITY, ...(ROUTED as unknown as Pick<CallSettled, 'decision' | 'shadow'>), error_code: AWKWARD, provider: 'p', model: 'm', fallback: true, fallback_reason: AWKWARD, decision_id: AWKWARD, usage: USAGE, finish_reason: AWKWARD,
  latency: { overhead_us: 10, queue_ms: 0.125, ttfb_ms: 3.5, total_ms: 1e21 }, attempts: [ATTEMPT, { ...BARE_ATTEMPT, index: 1 }],
};
const settled = (event: Parameters<typeof settledText>[0]): unknown => JSON.parse(`${settledText(event)}}`);
const namesOf = (shape: object, without: readonly string[] = []): string[] => Object.keys(shape).filter((name) => !without.includes(name)).sort();

it('a record with every member that the contract knows is read back as it was, whatever its texts hold', () => {
  expect(namesOf(STARTED)).toEqual(namesOf(CallStarted.shape));
  expect(JSON.parse(startedText(STARTED))).toEqual(JSON.parse(JSON.stringify(STARTED)));
  expect(namesOf(SETTLED)).toEqual(namesOf(CallSettled.shape, ['gateway_id', 'epoch', 'sequence']));
  expect(settled(SETTLED)).toEqual(JSON.parse(JSON.stringify(SETTLED)));
});

it('what is absent is left out', () => {
  expect(JSON.parse(startedText(startedCall(2)))).toEqual(startedCall(2));
  expect(settled(settledCall(2))).toEqual(settledCall(2));
});

it('a figure that is no number spoils its field, never the record', () => {
  expect(settled({ ...settledCall(3), cost_nanousd: NaN, latency: { overhead_us: Infinity, queue_ms: 0, total_ms: 1 } })).toMatchObject({ cost_nanousd: null, latency: { overhead_us: null }, outcome: 'ok' });
});

it('every record begins as the search behind damage expects it', () => {
  for (const text of [startedText(STARTED), settledText(SETTLED)]) expect(text.startsWith('{"schema":"sluice.event/')).toBe(true);
});

it('a key whose workspace has changed is not written with the former one', () => {
  settledText(settledCall(4));
  const moved = { ...settledCall(5), tenant_id: 'other', workspace: 'other-prod', workspace_id: '1b8c5a60-8d0e-4c62-9f0e-0e6f4f5b1a10', cell_id: 'cell-2' };
  expect(settled(moved)).toEqual(moved);
  expect(settled(settledCall(6))).toEqual(settledCall(6));
});
