import fc from 'fast-check';
import type { InboundCall, StreamReader } from '@sluice/contracts';
import { createAnthropicStreamReader } from './anthropic/stream-reader.ts';
import { learnTemplate } from './event-template.ts';
import { createOpenaiStreamReader } from './openai/stream-reader.ts';

const CALL: InboundCall = {
  operation: 'chat',
  bytes: Buffer.alloc(0),
  body: {},
  stream: true,
  wantsUsage: false,
  forwardHeaders: {},
};
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '\\"',
    'a"content":"b',
    '水门',
    '\n\n',
    '"}',
    '😀',
    'é',
    '","obfuscation":"x',
    '\u0000',
  ),
);

const openai = (fields: object, usage: unknown = null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [fields], usage })}\n\n`;
const anthropic = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const openaiEvent = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => openai({ index: 0, delta: { content }, finish_reason: null })) },
  { weight: 2, arbitrary: text.map((content) => openai({ index: 1, delta: { content }, finish_reason: null })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(text, text)
      .map(
        ([content, obfuscation]) =>
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], obfuscation })}\n\n`,
      ),
  },
  {
    weight: 2,
    arbitrary: text.map(
      (content) => `data: {"choices": [{"index": 0, "delta": {"content": ${JSON.stringify(content)}}}]}\n\n`,
    ),
  },
  text.map((reasoning_content) => openai({ index: 0, delta: { reasoning_content, content: null } })),
  fc
    .tuple(text, fc.constantFrom('f', undefined))
    .map(([args, name]) =>
      openai({ index: 0, delta: { tool_calls: [{ index: 0, function: { name, arguments: args } }] } }),
    ),
  fc.tuple(text, text).map(([content, refusal]) => openai({ index: 0, delta: { content, refusal } })),
  fc
    .tuple(text, fc.nat(9))
    .map(([content, n]) => openai({ index: 0, delta: { content } }, { prompt_tokens: n, completion_tokens: n })),
  text.map((content) => openai({ index: 0, delta: { content }, finish_reason: 'stop' })),
  fc.constantFrom(
    'data: {"error":{"code":"x"}}\n\n',
    'data: [DONE]\n\n',
    ': ping\n\n',
    '\n',
    'data: {"choices":[{"delta":{"content":"a\nb"}}]}\n\n',
    'data: nonsense\n\n',
    'data: {"choices":[]}\r\n\r\n',
  ),
);
const anthropicEvent = fc.oneof(
  {
    weight: 6,
    arbitrary: text.map((value) =>
      anthropic('content_block_delta', { index: 0, delta: { type: 'text_delta', text: value } }),
    ),
  },
  {
    weight: 2,
    arbitrary: text.map((value) =>
      anthropic('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: value } }),
    ),
  },
  {
    weight: 2,
    arbitrary: text.map((value) =>
      anthropic('content_block_delta', { index: 2, delta: { type: 'thinking_delta', thinking: value } }),
    ),
  },
  text.map((signature) =>
    anthropic('content_block_delta', { index: 2, delta: { type: 'signature_delta', signature } }),
  ),
  fc
    .nat(99)
    .map((output_tokens) =>
      anthropic('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens } }),
    ),
  fc.constantFrom(
    anthropic('message_start', { message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } }),
    anthropic('ping', {}),
    anthropic('error', { error: { type: 'overloaded_error' } }),
    anthropic('message_stop', {}),
  ),
);

function readAll(reader: StreamReader, pieces: Iterable<Buffer>): unknown {
  let out = '';
  for (const piece of pieces) out += reader.push(piece)?.toString('latin1') ?? '';
  return [
    out,
    reader.contentSeen,
    reader.ended,
    reader.fault,
    reader.usage,
    reader.finishReason,
    reader.model,
    reader.outputChars,
  ];
}

function* bytewise(parts: readonly string[]): Generator<Buffer> {
  const bytes = Buffer.from(parts.join(''));
  for (let i = 0; i < bytes.length; i += 1) yield bytes.subarray(i, i + 1);
}

describe('a stream whose events come whole, which are recognised by their wording', () => {
  it.each([
    ['OpenAI', openaiEvent, createOpenaiStreamReader],
    ['Anthropic', anthropicEvent, createAnthropicStreamReader],
  ] as const)(
    'of %s gives what the same stream gives byte by byte, where each event is parsed',
    (_name, event, create) => {
      fc.assert(
        fc.property(fc.array(fc.array(event, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), (groups) => {
          const buffers = groups.map((group) => Buffer.from(group.join('')));
          expect(readAll(create(CALL), buffers)).toEqual(readAll(create(CALL), bytewise(groups.flat())));
        }),
        { numRuns: 500 },
      );
    },
  );
});

describe('a template', () => {
  const measure = (event: string, next: string): number | undefined => {
    const bytes = Buffer.from(next);
    return learnTemplate(Buffer.from(event), 'content', 'one')?.measure(
      bytes.toString('latin1'),
      bytes,
      0,
      bytes.length,
    );
  };
  const event = (value: string, more = ''): string => `data: {"delta":{"content":"${value}"}${more}}\n\n`;

  it.each([
    ['plain text', event('one'), event('three'), 5],
    ['an empty text', event('one'), event(''), 0],
    ['escapes', event('one'), event('a\\n\\"\\u00e9'), 4],
    ['characters of several bytes', event('one'), event('éß'), 2],
    ['wide characters, which weigh three', event('one'), event('é水门😀'), 1 + 2 * 3 + 2 * 3],
    ['other padding', event('one', ',"obfuscation":"abc"'), event('two', ',"obfuscation":"x"'), 3],
  ])('measures %s', (_what, first, next, chars) => expect(measure(first, next)).toBe(chars));

  it.each([
    ['another member', event('one'), event('two', ',"usage":{}')],
    ['a quote that ends the text early', event('one'), event('two","x":"')],
    ['a line break within the text', event('one'), event('t\nwo')],
    ['an escape that is none', event('one'), event('\\q')],
    ['an escape in the padding', event('one', ',"obfuscation":"abc"'), event('two', ',"obfuscation":"\\""')],
  ])('does not know an event with %s', (_what, first, next) => expect(measure(first, next)).toBe(-1));

  it('is not learned where two members have the name', () =>
    expect(measure(event('one', ',"more":{"content":"one"}'), event('two'))).toBeUndefined());
});
