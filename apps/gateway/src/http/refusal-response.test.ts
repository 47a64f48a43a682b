import { ERROR_CATALOGUE, type Dialect, type ErrorCode } from '@sluice/contracts';
import { inBandError, refusalResponse } from './refusal-response.ts';

const DIALECTS: readonly Dialect[] = ['openai', 'anthropic'];

it.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s is rendered by the catalogue in both dialects', (code) => {
  for (const dialect of DIALECTS) {
    const { status, headers, body } = refusalResponse({ code }, dialect, 'req_1');
    expect([status, headers['x-sluice-refusal']]).toEqual([ERROR_CATALOGUE[code].status[dialect], code]);
    expect(JSON.stringify(JSON.parse(body.toString()))).toContain(ERROR_CATALOGUE[code].publicText.slice(0, 20));
  }
});

it('a wait is whole seconds of at least 1, with the exact milliseconds beside it', () => {
  expect(refusalResponse({ code: 'throttled', retryAfterMs: 17 }, 'openai', 'r').headers).toMatchObject({
    'retry-after': '1',
    'retry-after-ms': '17',
  });
  const two = refusalResponse({ code: 'throttled', retryAfterMs: 1000.2 }, 'openai', 'r').headers;
  expect(two).toMatchObject({ 'retry-after': '2', 'retry-after-ms': '1001' });
  expect(two['x-should-retry']).toBeUndefined();
});

it.each([
  ['a wait of more than a minute', { code: 'throttled', retryAfterMs: 60_001 } as const, '61'],
  ['a wait that never ends', { code: 'throttled', retryAfterMs: Infinity } as const, undefined],
  ['a refusal that waiting does not help', { code: 'invalid_json' } as const, undefined],
])('%s tells SDKs not to retry', (_name, refusal, retryAfter) => {
  const { headers } = refusalResponse(refusal, 'openai', 'r');
  expect([headers['x-should-retry'], headers['retry-after']]).toEqual(['false', retryAfter]);
});

it('a policy may give another status, and an upstream is named as the refuser', () => {
  const { status, headers } = refusalResponse({ code: 'quota', status: 429, refusedBy: 'upstream' }, 'openai', 'r');
  expect([status, headers['x-sluice-refused-by']]).toEqual([429, 'upstream']);
});

it('an error in a stream is one event of its dialect and no end marker', () => {
  expect(inBandError({ code: 'upstream_timeout' }, 'openai', 'r').toString()).toMatch(/^data: \{"error":\{.*\}\}\n\n$/);
  expect(inBandError({ code: 'upstream_timeout' }, 'anthropic', 'r').toString()).toMatch(
    /^event: error\ndata: \{"type":"error","error":\{"type":"timeout_error".*\}\n\n$/,
  );
});
