import type { LimitsView } from '@sluice/contracts';
import { goDuration, setRateHeaders } from './rate-headers.ts';

it.each([
  [0, '0s'],
  [17, '17ms'],
  [0.2, '1ms'],
  [1500, '1.5s'],
  [360_000, '6m0s'],
  [61_500, '1m1.5s'],
  [7_200_000, '2h0m0s'],
])('%d ms is written %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});

const quota = { level: 'workspace', id: 'u', window: 'month', resetAtMs: 0, alertAtPercent: [80, 100] } as const;
const VIEW: LimitsView = {
  requests: { limit: 10, remaining: 4, resetMs: 600 },
  tokens: { limit: 1000, remaining: 0, resetMs: 90_000 },
  quotas: [
    { ...quota, meter: 'total_tokens', limit: 100, used: 85, mode: 'hard' },
    { ...quota, meter: 'output_tokens', limit: 50, used: 10, mode: 'soft' },
    { ...quota, meter: 'cost_nanousd', limit: 5, used: 1, mode: 'hard' },
  ],
  inFlight: 0,
  queued: 0,
};

function headersOf(dialect: 'openai' | 'anthropic'): Record<string, string> {
  const headers: Record<string, string> = {};
  setRateHeaders(
    { setHeader: (name, value) => void (headers[name] = value) },
    VIEW,
    dialect,
    Date.parse('2026-01-01T00:00:00Z'),
  );
  return headers;
}

it('OpenAI callers read the buckets, the tightest token quota and the quotas that are nearly used up', () => {
  expect(headersOf('openai')).toEqual({
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '4',
    'x-ratelimit-reset-requests': '600ms',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '1m30s',
    'x-sluice-quota-remaining-tokens': '15',
    'x-sluice-quota-warning': 'workspace total_tokens hard 85%',
  });
});

it('Anthropic callers also read resets as instants', () => {
  expect(headersOf('anthropic')).toMatchObject({
    'anthropic-ratelimit-requests-remaining': '4',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:01:30.000Z',
    'anthropic-ratelimit-output-tokens-limit': '1000',
  });
});
