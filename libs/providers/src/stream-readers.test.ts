import fc from 'fast-check';
import type { InboundCall, Operation, StreamReader } from '@sluice/contracts';
import { createAdapterRegistry } from './registry.ts';

const adapters = createAdapterRegistry({ clock: { now: () => 1_700_000_000_000 } });

function callOf(operation: Operation): InboundCall {
  const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], stream: true };
  return {
    operation,
    bytes: Buffer.from(JSON.stringify(body)),
    body,
    stream: true,
    wantsUsage: false,
    forwardHeaders: {},
  };
}

/** Every reader of a stream: both dialects, passed through and translated. */
const READERS: [string, () => StreamReader][] = (['openai', 'anthropic'] as const).flatMap((dialect) => {
  const adapter = adapters.get(dialect);
  if (adapter === undefined) throw new Error(dialect);
  return (['chat', 'messages'] as const).map((operation): [string, () => StreamReader] => [
    `${operation} from ${dialect}`,
    () => adapter.createStreamReader(callOf(operation)),
  ]);
});

const data = (value: unknown) => `data: ${JSON.stringify(value)}`;
const named = (type: string, more: object = {}) => `event: ${type}\n${data({ type, ...more })}`;
const openai = (delta: object, finish: string | null = null) =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });

/** What providers send, and what they should not. */
const BLOCKS = [
  openai({ role: 'assistant', content: '' }),
  openai({ content: 'Hello' }),
  openai({ content: ' wörld "\\ 👋' }),
  openai({ content: ' again' }),
  openai({ tool_calls: [{ index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '' } }] }),
  openai({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  openai({}, 'stop'),
  data({ id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }),
  data({ error: { message: 'no', type: 'server_error' } }),
  'data: [DONE]',
  named('message_start', {
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' wörld 👋' } }),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
  named('message_stop'),
  named('ping'),
  named('error', { error: { type: 'overloaded_error', message: 'no' } }),
  ': comment',
  'data: {"half',
  'data: 7',
  'retry: 10',
  'data:',
];

const bytesOf = fc
  .record({
    blocks: fc.array(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...BLOCKS) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
      ),
      { maxLength: 14 },
    ),
    eol: fc.constantFrom('\n', '\r\n', '\r'),
  })
  // The last comment keeps a CR at the very end from being read as half of a CRLF.
  .map(({ blocks, eol }) =>
    Buffer.from([...blocks, ': end'].map((block) => block.replaceAll('\n', eol) + eol + eol).join('') + ': end'),
  );

interface Read {
  readonly out: string;
  readonly facts: unknown;
}

function read(reader: StreamReader, pieces: readonly Buffer[]): Read {
  let out = '';
  let broken: string | undefined;
  for (const piece of pieces) {
    if (broken !== undefined) break;
    try {
      out += reader.push(piece)?.toString('latin1') ?? '';
    } catch (error) {
      broken = String(error);
    }
  }
  const { contentSeen, ended, fault, usage, finishReason, model, outputChars } = reader;
  return { out, facts: { contentSeen, ended, fault: fault?.kind, usage, finishReason, model, outputChars, broken } };
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places]
    .map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
    .filter((piece) => piece.length > 0);
}

/** One piece an event, as providers flush them. */
function byEvent(bytes: Buffer): Buffer[] {
  return bytes
    .toString('latin1')
    .split(/(?<=\n\n|\r\n\r\n)/)
    .map((text) => Buffer.from(text, 'latin1'));
}

describe.each(READERS)('the reader of %s', (_name, create) => {
  it('gives the same bytes and facts for any split of the bytes, at every event, and byte by byte', () => {
    fc.assert(
      fc.property(bytesOf, fc.array(fc.nat(10_000), { maxLength: 12 }), (bytes, places) => {
        const whole = read(create(), [bytes]);
        expect(read(create(), cut(bytes, places))).toEqual(whole);
        expect(read(create(), byEvent(bytes))).toEqual(whole);
        expect(
          read(
            create(),
            [...bytes].map((byte) => Buffer.from([byte])),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('never throws anything but a malformed answer, and never forwards what follows an end or a fault, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            bytesOf,
            fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
          ),
          { maxLength: 6 },
        ),
        (pieces) => {
          const reader = create();
          for (const piece of pieces) {
            const over = reader.ended || reader.fault !== undefined;
            const out = reader.push(piece);
            if (over) expect(out).toBeUndefined();
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
