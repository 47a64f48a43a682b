import type { InboundCall, UpstreamTarget } from '@sluice/contracts';
import { isFault, isRefusal } from '@sluice/contracts';
import { createAnthropicAdapter } from './adapter.ts';

const adapter = createAnthropicAdapter({ clock: { now: () => 0 } });
const target: UpstreamTarget = {
  baseUrl: 'https://api.example.com',
  dialect: 'anthropic',
  providerModel: 'claude',
  secret: 'top',
  extraHeaders: {},
  tenantMarker: 'uuid-1',
  carryFields: [],
};

function inbound(text: string, over: Partial<InboundCall> = {}): InboundCall {
  return {
    operation: 'messages',
    bytes: Buffer.from(text),
    body: JSON.parse(text) as Record<string, unknown>,
    stream: false,
    wantsUsage: false,
    forwardHeaders: {},
    ...over,
  };
}

const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const STREAM = [
  event('message_start', {
    message: { model: 'claude', usage: { input_tokens: 25, cache_read_input_tokens: 3, output_tokens: 1 } },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('ping', {}),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } }),
  event('message_stop', {}),
];

function readStream(pieces: readonly (string | Buffer)[]) {
  const reader = adapter.createStreamReader(inbound('{"stream":true}', { stream: true }));
  return { reader, out: pieces.map((piece) => reader.push(Buffer.from(piece))?.toString() ?? '') };
}

describe('a request to an Anthropic provider', () => {
  it('carries bytes, version and beta headers as they came', () => {
    const text = '{"model":"claude", "max_tokens": 10,"beta_field":[1] }';
    const request = adapter.buildRequest(
      inbound(text, { forwardHeaders: { 'anthropic-version': '2024-01-01', 'anthropic-beta': 'a,b' } }),
      target,
    );
    if (isRefusal(request)) throw new Error('refused');
    expect(request.body.toString()).toBe(text);
    expect(request.headers.filter((header) => header === 'anthropic-version')).toHaveLength(1);
    expect(request.headers).toEqual(
      expect.arrayContaining(['anthropic-beta', 'a,b', 'x-api-key', 'top', 'x-sluice-tenant', 'uuid-1']),
    );
  });
  it('is refused for what the protocol cannot carry', () => {
    expect(isRefusal(adapter.buildRequest(inbound('{}', { operation: 'embeddings' }), target))).toBe(true);
  });
});

describe('a stream of Anthropic', () => {
  it('holds the preamble until content; input is counted at its start, output at its end', () => {
    const { reader, out } = readStream(STREAM);
    expect(out.slice(0, 3)).toEqual(['', '', '']);
    expect(out[3]).toBe(STREAM.slice(0, 4).join(''));
    expect(out.join('')).toBe(STREAM.join(''));
    expect(reader).toMatchObject({
      ended: true,
      finishReason: 'end_turn',
      usage: { input: 25, cache_read: 3, output: 15 },
    });
  });
  it('a stream without a final count has no usage, rather than the count of its start', () => {
    expect(readStream([STREAM[0]!, STREAM[3]!, STREAM[6]!]).reader).toMatchObject({
      ended: true,
      usage: undefined,
      outputChars: 5,
    });
  });
  it('a cut stream keeps what its start said', () => {
    expect(readStream(STREAM.slice(0, 4)).reader).toMatchObject({ ended: false, usage: { input: 25 }, outputChars: 5 });
  });
  it('tool use is content', () => {
    const { reader, out } = readStream([
      event('content_block_start', { content_block: { type: 'tool_use', name: 'look_up' } }),
    ]);
    expect(reader.contentSeen).toBe(true);
    expect(out[0]).not.toBe('');
  });
  it('an error event is a fault of its kind and is not forwarded', () => {
    const { reader, out } = readStream([
      event('error', { error: { type: 'overloaded_error', message: 'secret words' } }),
    ]);
    expect(reader.fault).toMatchObject({ kind: 'overloaded' });
    expect(out[0]).toBe('');
  });
  it('gives the same bytes and facts for every split in two', () => {
    const bytes = Buffer.from(STREAM.join(''));
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const { reader, out } = readStream([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(out.join('')).toBe(STREAM.join(''));
      expect(reader).toMatchObject({ ended: true, usage: { input: 25, output: 15 } });
    }
  });
});

describe('a whole answer of Anthropic', () => {
  const read = (text: string, over: Partial<InboundCall> = {}) =>
    adapter.readWhole(inbound('{}', over), Buffer.from(text));
  it.each([['<html>'], ['{}'], ['{"type":"error","error":{"type":"api_error"}}']])('%j is a fault', (text) => {
    expect(isFault(read(text))).toBe(true);
  });
  it('a message is read with its usage', () => {
    expect(
      read(
        '{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","model":"claude","usage":{"input_tokens":3,"output_tokens":2}}',
      ),
    ).toMatchObject({ finishReason: 'end_turn', outputChars: 5, usage: { input: 3, output: 2 } });
  });
  it('counting tokens is free', () => {
    expect(read('{"input_tokens":2095}', { operation: 'count_tokens' })).toMatchObject({
      usage: { input: 0, output: 0 },
    });
  });
});

describe('an error of an Anthropic provider', () => {
  const classify = (status: number, body = '{}') => adapter.classify(status, {}, Buffer.from(body), inbound('{}')).kind;
  it('is told apart by whose fault it is', () => {
    expect([400, 401, 403, 413, 429, 500, 529].map((status) => classify(status))).toEqual([
      'caller',
      'account',
      'account',
      'caller',
      'rate_limited',
      'server',
      'overloaded',
    ]);
    expect(
      classify(
        400,
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}',
      ),
    ).toBe('context_window');
  });
  const told = (message: string) =>
    JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
  it.each([
    'Your credit balance is too low to access the API.',
    'You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.',
    'This organization has been disabled.',
  ])("that speaks of our account is the account's, whatever its status: %s", (message) => {
    expect(classify(400, told(message))).toBe('account');
  });
  it("that quotes the caller's values is the caller's, so that nobody can have the account left alone for all", () => {
    expect(classify(400, told('messages: Unexpected role "Your credit balance is too low".'))).toBe('caller');
    expect(classify(429, told('Unexpected value "is required for long context requests"'))).toBe('rate_limited');
  });
  it('because the account may not send a prompt this long rests no account', () => {
    expect(classify(429, told('Extra usage is required for long context requests.'))).toBe('context_window');
  });
});
