import type { InboundCall, UpstreamTarget } from '@sluice/contracts';
import { isFault, isRefusal } from '@sluice/contracts';
import { createOpenaiAdapter } from './adapter.ts';

const adapter = createOpenaiAdapter({ clock: { now: () => Date.parse('2026-01-01T00:00:00Z') } });
const target: UpstreamTarget = {
  baseUrl: 'https://api.example.com/v1',
  dialect: 'openai',
  providerModel: 'gpt-4o-mini',
  secret: 'top',
  extraHeaders: {},
  tenantMarker: 'uuid-1',
  carryFields: [],
};

function inbound(text: string, over: Partial<InboundCall> = {}): InboundCall {
  const body = JSON.parse(text) as Record<string, unknown>;
  return {
    operation: 'chat',
    bytes: Buffer.from(text),
    body,
    stream: body.stream === true,
    wantsUsage: false,
    forwardHeaders: {},
    ...over,
  };
}

function built(text: string, over: Partial<InboundCall> = {}) {
  const request = adapter.buildRequest(inbound(text, over), target);
  if (isRefusal(request)) throw new Error(request.message);
  return request;
}

describe('a request to an OpenAI provider', () => {
  it("carries the caller's bytes untouched when nothing has to change", () => {
    const text = '{ "model" : "gpt-4o-mini", "unknown_field": {"z":1},  "messages":[] }';
    expect(built(text).body.toString()).toBe(text);
  });
  it("changes the model's name and nothing else", () => {
    expect(built('{ "model" : "fast",  "messages":[{"content":"model"}] }').body.toString()).toBe(
      '{ "model" : "gpt-4o-mini",  "messages":[{"content":"model"}] }',
    );
  });
  it("asks for usage in every stream and keeps the caller's other stream options", () => {
    const body = JSON.parse(
      built('{"model":"gpt-4o-mini","stream":true,"stream_options":{"other":1}}').body.toString(),
    );
    expect(body.stream_options).toEqual({ other: 1, include_usage: true });
  });
  it("carries our tenant marker and credential, and nothing of the caller's key", () => {
    const { headers, origin, path } = built('{"model":"gpt-4o-mini","x-sluice-tenant":"forged"}', {
      forwardHeaders: { 'openai-beta': 'x' },
    });
    expect(origin + path).toBe('https://api.example.com/v1/chat/completions');
    const pairs = Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : [])));
    expect(pairs).toMatchObject({ authorization: 'Bearer top', 'x-sluice-tenant': 'uuid-1', 'openai-beta': 'x' });
    expect(built('{"model":"gpt-4o-mini","x-sluice-tenant":"forged"}').body.toString()).not.toContain('forged');
  });
  it("lets a provider's extra headers add to ours, but not mark another tenant, change the credential or reframe the message", () => {
    const extraHeaders = {
      'X-Sluice-Tenant': 'forged',
      Authorization: 'Bearer other',
      'Content-Length': '3',
      'transfer-encoding': 'chunked',
      Expect: '100-continue',
      'x-region': 'eu',
    };
    const request = adapter.buildRequest(inbound('{"model":"m"}'), { ...target, extraHeaders });
    if (isRefusal(request)) throw new Error(request.message);
    const names = request.headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
    expect(request.headers).toEqual(expect.arrayContaining(['x-region', 'eu', 'uuid-1', 'Bearer top']));
    expect(request.headers).not.toEqual(expect.arrayContaining(['forged']));
    expect(names).not.toEqual(expect.arrayContaining(['content-length']));
    expect(names).not.toEqual(expect.arrayContaining(['transfer-encoding']));
    expect(names).not.toEqual(expect.arrayContaining(['expect']));
  });
  it('is refused for what the protocol cannot carry', () => {
    expect(isRefusal(adapter.buildRequest(inbound('{}', { operation: 'count_tokens' }), target))).toBe(true);
  });
});

describe('an error of an OpenAI provider', () => {
  const classify = (status: number, body = '{}', headers = {}) =>
    adapter.classify(status, headers, Buffer.from(body), inbound('{}'));
  it.each([
    [400, 'caller'],
    [401, 'account'],
    [402, 'account'],
    [403, 'account'],
    [404, 'caller'],
    [422, 'caller'],
    [429, 'rate_limited'],
    [500, 'server'],
    [503, 'overloaded'],
    [529, 'overloaded'],
  ])('%i is %s', (status, kind) => {
    expect(classify(status).kind).toBe(kind);
  });
  it('a prompt that is too long is its own kind', () => {
    expect(classify(400, '{"error":{"code":"context_length_exceeded"}}').kind).toBe('context_window');
  });
  it('a request that is larger than the whole rate of the account is no rate limit, and our organisation stays unnamed', () => {
    const fault = classify(
      429,
      '{"error":{"message":"Request too large for m in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.","type":"tokens","code":"rate_limit_exceeded"}}',
    );
    expect(fault).toMatchObject({ kind: 'context_window', status: 429 });
    expect(fault.body).toBeUndefined();
    expect(
      classify(429, '{"error":{"message":"Rate limit reached for m","type":"tokens","code":"rate_limit_exceeded"}}')
        .kind,
    ).toBe('rate_limited');
  });
  it('waiting times are read from every form of header', () => {
    expect(classify(429, '{}', { 'retry-after': '7' }).retryAfterMs).toBe(7000);
    expect(classify(429, '{}', { 'retry-after-ms': '250', 'retry-after': '7' }).retryAfterMs).toBe(250);
    expect(classify(429, '{}', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }).retryAfterMs).toBe(9000);
  });
  it("the provider's words pass for the caller's own faults only", () => {
    expect(classify(400, '{"error":{}}').body?.toString()).toBe('{"error":{}}');
    expect(classify(401, '{"error":{"message":"key sk-123 is wrong"}}').body).toBeUndefined();
  });
});

describe('a whole answer of OpenAI', () => {
  const read = (text: string) => adapter.readWhole(inbound('{}'), Buffer.from(text));
  it.each([['<html>'], ['{"choices":'], ['[]'], ['{}'], ['null'], ['']])('%j is a fault, not a success', (text) => {
    expect(isFault(read(text))).toBe(true);
  });
  it('nested without end is a fault, and not parsed', () => {
    expect(isFault(read(`{"choices":[],"x":${'['.repeat(1_000)}${']'.repeat(1_000)}}`))).toBe(true);
  });
  it('an error inside a 200 is a fault', () => {
    expect(read('{"error":{"code":"x"}}')).toMatchObject({ kind: 'server' });
  });
  it('of many embeddings is read but for its numbers, of which nobody here needs any', () => {
    const data = `[${Array.from({ length: 100 }, (_, index) => `{"index":${index},"embedding":[${'0.0123,'.repeat(500)}1]}`).join()}]`;
    const large = `{"object":"list","data":${data},"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}`;
    expect(read(large)).toMatchObject({ usage: { input: 8, output: 0 }, model: 'm' });
    expect(read(large.replace('0.0123', '0.01.23'))).toMatchObject({ usage: { input: 8 } });
    for (const broken of [
      large.slice(0, -1),
      large.slice(0, 300_000),
      large.replace('"model"', 'model'),
      large.replace('"data"', '"date"'),
      `${large}}`,
    ])
      expect(isFault(read(broken))).toBe(true);
    expect(read(`{"error":{"code":"x"},"data":${data}}`)).toMatchObject({ kind: 'server' });
  });
  it('without usage the usage is unknown, and the text is measured', () => {
    expect(read('{"model":"m","choices":[{"message":{"content":"12345678"},"finish_reason":"stop"}]}')).toEqual({
      usage: undefined,
      finishReason: 'stop',
      model: 'm',
      outputChars: 8,
    });
  });
});

const STREAM = [
  'data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null}\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}],"usage":null}\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n',
  'data: {"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\n',
  'data: [DONE]\n\n',
];

function readStream(pieces: readonly (string | Buffer)[], wantsUsage = false) {
  const reader = adapter.createStreamReader(inbound('{"stream":true}', { stream: true, wantsUsage }));
  const out = pieces.map((piece) => reader.push(Buffer.from(piece))?.toString() ?? '');
  return { reader, out };
}

describe('a stream of OpenAI', () => {
  it('holds the preamble until content, then forwards every event as it came', () => {
    const { reader, out } = readStream(STREAM, true);
    expect(out).toEqual(['', STREAM[0]! + STREAM[1]!, STREAM[2], STREAM[3], STREAM[4], STREAM[5]]);
    expect(reader).toMatchObject({ ended: true, finishReason: 'stop', outputChars: 5, usage: { input: 9, output: 2 } });
  });
  it('hides the usage chunk from a caller that did not ask, and still reads it', () => {
    const { reader, out } = readStream(STREAM);
    expect(out.join('')).not.toContain('prompt_tokens');
    expect(reader.usage).toMatchObject({ input: 9, output: 2 });
  });
  it('after the first content an untouched buffer goes on as the same buffer', () => {
    const reader = adapter.createStreamReader(inbound('{"stream":true}', { stream: true }));
    reader.push(Buffer.from(STREAM[0]! + STREAM[1]!));
    const chunk = Buffer.from(STREAM[2]!);
    expect(reader.push(chunk)).toBe(chunk);
  });
  it('gives the same bytes and facts for every split in two', () => {
    const bytes = Buffer.from(STREAM.join(''));
    const whole = readStream([bytes]);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const split = readStream([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(split.out.join('')).toBe(whole.out.join(''));
      expect(split.reader).toMatchObject({ ended: true, usage: whole.reader.usage, outputChars: 5 });
    }
  });
  it('an error in the stream is a fault and is not forwarded', () => {
    const { reader, out } = readStream([STREAM[1]!, 'data: {"error":{"message":"secret words","code":"x"}}\n\n']);
    expect(reader.fault).toMatchObject({ kind: 'server' });
    expect(out[1]).toBe('');
    expect(reader.ended).toBe(false);
  });
  it('garbage is a fault', () => {
    expect(readStream(['data: <html>\n\n']).reader.fault).toMatchObject({ kind: 'malformed' });
  });
  it('an empty completion still begins and ends', () => {
    const { reader, out } = readStream([STREAM[0]!, STREAM[3]!, STREAM[5]!]);
    expect(out.join('')).toBe(STREAM[0]! + STREAM[3]! + STREAM[5]!);
    expect(reader).toMatchObject({ ended: true, contentSeen: true, outputChars: 0 });
  });
});
