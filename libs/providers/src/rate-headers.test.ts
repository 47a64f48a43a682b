import { faultOfError } from './error-words.ts';
import { classifyOpenai } from './openai/classify.ts';
import { rateLimitsOf } from './rate-headers.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const reachOf = (headers: Record<string, string>, body = '{}') => {
  const { reach, retryAfterMs } = classifyOpenai(429, headers, Buffer.from(body), NOW);
  return [reach, retryAfterMs];
};

describe('a 429', () => {
  it('means the model only where a header says that nothing remains, until its reset or the Retry-After', () => {
    expect(reachOf({})).toEqual([undefined, undefined]);
    expect(reachOf({ 'x-ratelimit-remaining-requests': '3' })).toEqual([undefined, undefined]);
    expect(reachOf({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m2.5s' })).toEqual([
      'model',
      62_500,
    ]);
    expect(reachOf({ 'x-ratelimit-remaining-tokens': '0', 'retry-after': '7' })).toEqual(['model', 7_000]);
    expect(
      reachOf({
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:09Z',
      }),
    ).toEqual(['model', 9_000]);
  });

  it('means the account only by a scope header or a code, never by a sentence that may quote the caller', () => {
    expect(reachOf({ 'x-ratelimit-scope': 'organization' })[0]).toBe('account');
    expect(reachOf({}, '{"error":{"code":"account_rate_limit_exceeded"}}')[0]).toBe('account');
    for (const message of ['account_rate_limit_exceeded', 'Rate limit reached for the account', 'organization limit'])
      expect(reachOf({}, JSON.stringify({ error: { message, param: message } }))[0]).toBeUndefined();
    expect(reachOf({ 'x-ratelimit-scope': 'user' })[0]).toBeUndefined();
  });
});

it('a refusal means the account where the words are of money or the key, and the call where they are of a permission', () => {
  const reach = (status: number, code: string) =>
    classifyOpenai(status, {}, Buffer.from(JSON.stringify({ error: { code, message: 'insufficient_quota' } })), NOW)
      .reach;
  expect([
    reach(403, 'insufficient_quota'),
    reach(400, 'billing_hard_limit_reached'),
    reach(401, 'invalid_api_key'),
  ]).toEqual(Array.from({ length: 3 }, () => 'account'));
  expect([reach(403, 'permission_error'), reach(403, 'unsupported_country_region_territory'), reach(403, 'x')]).toEqual(
    Array.from({ length: 3 }, () => undefined),
  );
  expect(faultOfError({ code: 'insufficient_quota' }, 'in a stream').reach).toBe('account');
  expect(faultOfError({ type: 'permission_error' }, 'in a stream').reach).toBeUndefined();
});

describe('the limits of an answer', () => {
  const openai = (limit: string, remaining: string, reset: string) => ({
    'x-ratelimit-limit-requests': limit,
    'x-ratelimit-remaining-requests': remaining,
    'x-ratelimit-reset-requests': reset,
  });

  it('are taken where all of it comes back in about a minute, and not where it is a day’s or cannot be told', () => {
    expect(rateLimitsOf(openai('600', '540', '6s'), NOW)).toEqual({ requestsPerMinute: 600 });
    expect(rateLimitsOf(openai('60', '59', '1000ms'), NOW)).toEqual({ requestsPerMinute: 60 });
    expect(rateLimitsOf(openai('14400', '14370', '2m59.56s'), NOW)).toBeUndefined();
    expect(rateLimitsOf(openai('600', '600', '0s'), NOW)).toBeUndefined();
    for (const bad of ['', 'soon', '-1', '1e9', '9'.repeat(50)])
      for (const at of [0, 1, 2])
        expect(
          rateLimitsOf(openai(...(['600', '540', '6s'].with(at, bad) as [string, string, string])), NOW),
        ).toBeUndefined();
    expect(
      rateLimitsOf(
        {
          'anthropic-ratelimit-tokens-limit': '80000',
          'anthropic-ratelimit-tokens-remaining': '60000',
          'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:15Z',
        },
        NOW,
      ),
    ).toEqual({ tokensPerMinute: 80_000 });
  });
});
