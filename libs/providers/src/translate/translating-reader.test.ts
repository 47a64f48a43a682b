import type { InboundCall, ProviderAdapter } from '@sluice/contracts';
import fc from 'fast-check';
import { createAdapterRegistry } from '../registry.ts';
import { ANTHROPIC_TOOL_STREAM, OPENAI_TOOL_STREAM } from './captured.fixture.ts';

const registry = createAdapterRegistry({ clock: { now: () => 1_700_000_000_000 } });
const anthropic = registry.get('anthropic') as ProviderAdapter;
const openai = registry.get('openai') as ProviderAdapter;

function read(adapter: ProviderAdapter, call: InboundCall, pieces: readonly Buffer[]) {
  const reader = adapter.createStreamReader(call);
  let text = '';
  for (const piece of pieces) text += reader.push(piece)?.toString() ?? '';
  return { reader, text };
}

const STREAMED = { bytes: Buffer.alloc(0), body: {}, stream: true, forwardHeaders: {} };
const chatStream: InboundCall = { ...STREAMED, operation: 'chat', wantsUsage: true };
const messageStream: InboundCall = { ...STREAMED, operation: 'messages', wantsUsage: false };
const dataOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)]
    .map((match) => match[1] as string)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Record<string, never>);

describe('a stream in the other dialect', () => {
  it('message events become chunks: role, text, tool calls in order, finish, usage, end', () => {
    const { reader, text } = read(anthropic, chatStream, [Buffer.from(ANTHROPIC_TOOL_STREAM)]);
    const chunks = dataOf(text) as unknown as {
      choices: {
        delta: {
          role?: string;
          content?: string;
          tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
        };
        finish_reason: string | null;
      }[];
      usage?: object;
    }[];
    expect(chunks[0]).toMatchObject({
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'claude-x',
      choices: [{ index: 0, delta: { role: 'assistant' } }],
    });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Okay, "let\'s" look 🌧');
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls.filter((call) => call.id !== undefined)).toMatchObject([
      { index: 0, id: 'toolu_a', function: { name: 'get_weather' } },
      { index: 1, id: 'toolu_b', function: { name: 'get_time' } },
    ]);
    expect(
      calls
        .filter((call) => call.index === 0)
        .map((call) => call.function.arguments)
        .join(''),
    ).toBe('{"city": "San Francisco"}');
    expect(
      calls
        .filter((call) => call.index === 1)
        .map((call) => call.function.arguments)
        .join(''),
    ).toBe('{}');
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 482, completion_tokens: 89, prompt_tokens_details: { cached_tokens: 10 } },
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toMatch(/thinking|secret thought/);
    expect(reader).toMatchObject({
      ended: true,
      finishReason: 'tool_use',
      model: 'claude-x',
      usage: { input: 472, cache_read: 10, output: 89 },
    });
  });

  it('chunks become message events: blocks one after the other, usage and stop reason at the end', () => {
    const { reader, text } = read(openai, messageStream, [Buffer.from(OPENAI_TOOL_STREAM)]);
    const events = dataOf(text) as unknown as { type: string; index?: number }[];
    expect(
      events
        .map((event) => (event.index === undefined ? event.type : `${event.type} ${event.index}`))
        .filter((name, i, all) => name !== all[i - 1]),
    ).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'message_delta',
      'message_stop',
    ]);
    expect(events.find((event) => event.index === 1)).toMatchObject({
      content_block: { type: 'tool_use', id: 'call_a', name: 'get_weather', input: {} },
    });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 60, cache_read_input_tokens: 22, output_tokens: 17 },
    });
    expect([...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual(events.map((event) => event.type));
    expect(reader).toMatchObject({
      ended: true,
      finishReason: 'tool_calls',
      usage: { input: 60, cache_read: 22, output: 17 },
    });
  });

  it('the preamble waits for content, and the usage chunk only comes to who asked for it', () => {
    const events = ANTHROPIC_TOOL_STREAM.split(/(?<=\n\n)/);
    const reader = anthropic.createStreamReader({ ...chatStream, wantsUsage: false });
    expect([
      reader.push(Buffer.from(events[0] as string)),
      reader.push(Buffer.from(events[1] as string)),
      reader.contentSeen,
    ]).toEqual([undefined, undefined, false]);
    const rest = events
      .slice(2)
      .map((event) => reader.push(Buffer.from(event))?.toString() ?? '')
      .join('');
    expect(rest).toContain('"role":"assistant"');
    expect(rest).not.toContain('"usage"');
  });

  it('an error in the stream is a fault in both directions, and nothing follows it', () => {
    const failing = `${ANTHROPIC_TOOL_STREAM.split(/(?<=\n\n)/)
      .slice(0, 5)
      .join(
        '',
      )}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"secret"}}\n\n${ANTHROPIC_TOOL_STREAM}`;
    expect(read(anthropic, chatStream, [Buffer.from(failing)]).reader).toMatchObject({
      fault: { kind: 'overloaded' },
      ended: false,
    });
    const broken = read(openai, messageStream, [
      Buffer.from(
        `${OPENAI_TOOL_STREAM.split(/(?<=\n\n)/)
          .slice(0, 3)
          .join('')}data: {"error":{"code":"x"}}\n\n${OPENAI_TOOL_STREAM}`,
      ),
    ]);
    expect(broken.reader).toMatchObject({ fault: { kind: 'server' }, ended: false });
    expect(broken.text).not.toContain('message_stop');
  });

  it('an error in the stream that speaks of the account or its rate is not the failure of the provider, which all customers share', () => {
    const anthropicStart = ANTHROPIC_TOOL_STREAM.split(/(?<=\n\n)/)
      .slice(0, 5)
      .join('');
    const openaiStart = OPENAI_TOOL_STREAM.split(/(?<=\n\n)/)
      .slice(0, 3)
      .join('');
    expect(
      read(anthropic, chatStream, [
        Buffer.from(`${anthropicStart}event: error\ndata: {"type":"error","error":{"type":"rate_limit_error"}}\n\n`),
      ]).reader.fault?.kind,
    ).toBe('rate_limited');
    expect(
      read(openai, messageStream, [Buffer.from(`${openaiStart}data: {"error":{"code":"insufficient_quota"}}\n\n`)])
        .reader.fault?.kind,
    ).toBe('account');
  });

  it('a stream that ends without a count has no usage; the caller still reads a number', () => {
    const without = OPENAI_TOOL_STREAM.replace(/data: \{[^\n]*"usage":\{[^\n]*\n\n/, '');
    const { reader, text } = read(openai, messageStream, [Buffer.from(without)]);
    expect(reader).toMatchObject({ ended: true, usage: undefined });
    expect(dataOf(text).at(-2)).toMatchObject({ usage: { output_tokens: expect.any(Number) } });
  });

  it.each([
    ['anthropic', anthropic, chatStream, ANTHROPIC_TOOL_STREAM],
    ['openai', openai, messageStream, OPENAI_TOOL_STREAM],
    ['openai with CRLF', openai, messageStream, OPENAI_TOOL_STREAM.replaceAll('\n', '\r\n')],
  ] as const)('any split of the bytes gives the same events and facts (%s)', (_name, adapter, call, stream) => {
    const bytes = Buffer.from(stream);
    const whole = read(adapter, call, [bytes]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const split = read(
          adapter,
          call,
          at.slice(1).map((end, i) => bytes.subarray(at[i], end)),
        );
        expect(split.text).toBe(whole.text);
        expect({ ...facts(split.reader) }).toEqual(facts(whole.reader));
      }),
      { numRuns: 300 },
    );
  });

  it('any text and any arguments arrive as they were sent, in both directions', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 8 }), (texts) => {
        const there = read(openai, messageStream, [
          Buffer.from(
            `${texts.map((content) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`).join('')}data: [DONE]\n\n`,
          ),
        ]);
        const back = read(anthropic, { ...chatStream }, [Buffer.from(there.text)]);
        expect(
          dataOf(back.text)
            .map(
              (chunk) =>
                (chunk as unknown as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '',
            )
            .join(''),
        ).toBe(texts.join(''));
      }),
      { numRuns: 200 },
    );
  });
});

function facts({
  contentSeen,
  ended,
  fault,
  usage,
  finishReason,
  model,
  outputChars,
}: ReturnType<ProviderAdapter['createStreamReader']>) {
  return { contentSeen, ended, fault, usage, finishReason, model, outputChars };
}
