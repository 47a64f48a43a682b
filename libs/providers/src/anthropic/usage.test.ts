import type { InboundCall } from '@sluice/contracts';
import { createAnthropicStreamReader } from './stream-reader.ts';
import { anthropicUsage } from './usage.ts';

const NONE = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

describe('usage of Anthropic', () => {
  // As the API reference and the guide on prompt caching document it.
  it.each([
    ['a plain message', { input_tokens: 2095, output_tokens: 503 }, { ...NONE, input: 2095, output: 503 }],
    [
      'a prompt from the cache',
      { input_tokens: 50, cache_creation_input_tokens: 248, cache_read_input_tokens: 100_000, output_tokens: 503 },
      { ...NONE, input: 50, cache_read: 100_000, cache_write: 248, output: 503 },
    ],
    [
      'writes by lifetime, which their total contains',
      {
        input_tokens: 2048,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 248,
        output_tokens: 503,
        cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      },
      { ...NONE, input: 2048, cache_read: 1800, cache_write: 248, output: 503 },
    ],
    [
      'writes by lifetime alone',
      {
        input_tokens: 10,
        output_tokens: 1,
        cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      },
      { ...NONE, input: 10, cache_write: 248, output: 1 },
    ],
    [
      'server tools and a tier, which are no tokens',
      {
        input_tokens: 105,
        output_tokens: 6039,
        cache_read_input_tokens: 7123,
        cache_creation_input_tokens: 7345,
        server_tool_use: { web_search_requests: 1 },
        service_tier: 'standard',
      },
      { ...NONE, input: 105, cache_read: 7123, cache_write: 7345, output: 6039 },
    ],
    [
      'null where there is no cache',
      {
        input_tokens: 3,
        output_tokens: 2,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation: null,
      },
      { ...NONE, input: 3, output: 2 },
    ],
    ['explicit zeros', { input_tokens: 0, output_tokens: 0 }, NONE],
  ])('%s', (_what, reported, expected) => expect(anthropicUsage(reported)).toEqual(expected));

  it.each([
    ['nothing', undefined],
    ['no counts', {}],
    ['a negative input', { input_tokens: -1, output_tokens: 2 }],
    ['a negative part', { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: -7 }],
    [
      'a negative part of the breakdown',
      { input_tokens: 1, output_tokens: 2, cache_creation: { ephemeral_5m_input_tokens: -7 } },
    ],
    ['a count beyond all sense', { input_tokens: 1, output_tokens: 1e15 }],
    ['no number', { input_tokens: NaN, output_tokens: 1 }],
  ])('%s is unknown, and neither zero nor clamped', (_what, reported) =>
    expect(anthropicUsage(reported)).toBeUndefined(),
  );
});

describe('usage of a stream of Anthropic', () => {
  const CALL: InboundCall = {
    operation: 'messages',
    bytes: Buffer.alloc(0),
    body: {},
    stream: true,
    wantsUsage: false,
    forwardHeaders: {},
  };
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const readerOf = (start: object | undefined, ...deltas: object[]) => {
    const reader = createAnthropicStreamReader(CALL);
    reader.push(
      Buffer.from(
        event('message_start', { message: { model: 'm', usage: start } }) +
          event('content_block_delta', { delta: { type: 'text_delta', text: 'Hi' } }),
      ),
    );
    for (const usage of deltas)
      reader.push(Buffer.from(event('message_delta', { delta: { stop_reason: 'end_turn' }, usage })));
    reader.push(Buffer.from(event('message_stop', {})));
    return reader;
  };
  const usageOf = (...reports: Parameters<typeof readerOf>) => readerOf(...reports).usage;
  const servedBy = (...reports: Parameters<typeof readerOf>) => readerOf(...reports).served;

  it('takes input from its start and output from its end, which is cumulative and not added', () => {
    expect(usageOf({ input_tokens: 25, output_tokens: 1 }, { output_tokens: 15 })).toEqual({
      ...NONE,
      input: 25,
      output: 15,
    });
    expect(usageOf({ input_tokens: 25, output_tokens: 1 }, { output_tokens: 10 }, { output_tokens: 15 })).toEqual({
      ...NONE,
      input: 25,
      output: 15,
    });
  });

  it('keeps the larger count where the end sends zeros', () => {
    expect(
      usageOf(
        { input_tokens: 1_000, cache_read_input_tokens: 500, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 15 },
      ),
    ).toEqual({ ...NONE, input: 1_000, cache_read: 500, output: 15 });
  });

  it('keeps what it was served by, which its start or its end tells', () => {
    expect(
      servedBy(
        {
          input_tokens: 5,
          output_tokens: 1,
          service_tier: 'priority',
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 40 },
        },
        { output_tokens: 15, server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 }, speed: 'fast' },
      ),
    ).toEqual({ tier: 'priority+fast', cache_write_1h: 40, tools: { web_search: 2 } });
    expect(servedBy({ input_tokens: 5, output_tokens: 1, service_tier: 'standard' }, { output_tokens: 2 })).toBe(
      undefined,
    );
  });

  it('takes the end as the newer word where it repeats the input side', () => {
    const end = {
      input_tokens: 10_682,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: 9,
      output_tokens: 510,
      server_tool_use: { web_search_requests: 1 },
    };
    expect(
      usageOf(
        { input_tokens: 2_679, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 3 },
        end,
      ),
    ).toEqual({ ...NONE, input: 10_682, cache_write: 7, cache_read: 9, output: 510 });
  });

  it('keeps the cache of its start where the end is silent about it', () => {
    expect(
      usageOf(
        {
          input_tokens: 25,
          cache_read_input_tokens: 300,
          cache_creation: { ephemeral_1h_input_tokens: 40 },
          output_tokens: 1,
        },
        { output_tokens: 15 },
      ),
    ).toEqual({ ...NONE, input: 25, cache_read: 300, cache_write: 40, output: 15 });
  });

  it.each([
    ['its start reported no input', undefined, [{ output_tokens: 15 }]],
    ['its end is senseless', { input_tokens: 25, output_tokens: 1 }, [{ output_tokens: -15 }]],
    ['its end did not count', { input_tokens: 25, output_tokens: 1 }, []],
  ])('is unknown where %s', (_why, start, deltas) => expect(usageOf(start, ...deltas)).toBeUndefined());
});
