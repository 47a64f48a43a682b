import type { InboundCall } from '@sluice/contracts';
import { isFault } from '@sluice/contracts';
import {
  anthropicAdapter,
  callOf,
  chunk,
  delta,
  DONE,
  finish,
  named,
  openaiAdapter,
  readStream,
  START,
  STOP,
  textBlock,
  USAGE,
} from './wire.fixture.ts';

/** An OpenAI stream as it is read for a caller of either dialect. */
const FROM_OPENAI: [string, InboundCall][] = [
  ['passed through', callOf('chat')],
  ['translated', callOf('messages')],
];
const FROM_ANTHROPIC: [string, InboundCall][] = [
  ['passed through', callOf('messages')],
  ['translated', callOf('chat')],
];
const openai = (call: InboundCall, text: string) => readStream(openaiAdapter.createStreamReader(call), text);
const anthropic = (call: InboundCall, text: string) => readStream(anthropicAdapter.createStreamReader(call), text);
const HELLO = delta({ role: 'assistant', content: '' }) + delta({ content: 'Hello' });
const ENDS: Record<string, RegExp> = { chat: /data: \[DONE\]\n\n$/, messages: /"message_stop"\}\n\n$/ };

describe.each(FROM_OPENAI)('an OpenAI stream, %s,', (_how, call) => {
  it.each([
    ['its mark', HELLO + delta({}, 'stop') + USAGE + DONE],
    ['a mark with a blank', HELLO + delta({}, 'stop') + USAGE + 'data: [DONE] \n\n'],
    ['a mark without the blank line', HELLO + delta({}, 'stop') + USAGE + 'data: [DONE]\n'],
    ['a mark without any line end', HELLO + delta({}, 'stop') + USAGE + 'data: [DONE]'],
    ['a clean end after its usage', HELLO + delta({}, 'stop') + USAGE],
    ['a clean end after its finish', HELLO + delta({}, 'stop')],
    ['usage whose blank line is missing', HELLO + delta({}, 'stop') + USAGE.trimEnd()],
    [
      'lines that end in CRLF, the last one missing',
      (HELLO + delta({}, 'stop') + DONE).replaceAll('\n', '\r\n').slice(0, -2),
    ],
    [
      'usage and finish in one chunk',
      HELLO +
        chunk({
          choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          usage: { prompt_tokens: 5, completion_tokens: 7 },
        }),
    ],
  ])('is complete with %s, and ends in the words of its reader', (_what, text) => {
    const { reader, text: out } = openai(call, text);
    expect(reader).toMatchObject({ ended: true, fault: undefined, finishReason: 'stop' });
    expect(out.replaceAll('\r\n', '\n').trimEnd() + '\n\n').toMatch(ENDS[call.operation] as RegExp);
    expect(out.match(/\[DONE\]|"message_stop"/g)).toHaveLength(1);
    if (text.includes('usage')) expect(reader.usage).toMatchObject({ input: 5, output: 7 });
  });

  it.each([
    ['a clean end without a finish reason', HELLO],
    ['a last chunk that was cut', HELLO + delta({}, 'stop').slice(0, 60)],
    ['an empty finish reason', HELLO + delta({ content: 'x' }, '')],
  ])('is not complete with %s', (_what, text) => {
    expect(openai(call, text).reader).toMatchObject({ ended: false, contentSeen: true });
  });

  it.each([
    ['nothing but a mark', DONE],
    ['a role and a mark', delta({ role: 'assistant', content: '' }) + DONE],
    ['nulls and a mark', delta({ role: 'assistant', content: null, refusal: null, tool_calls: [] }) + DONE],
  ])('of %s is no success', (_what, text) => {
    expect(openai(call, text).reader).toMatchObject({ ended: false, contentSeen: false, fault: { kind: 'truncated' } });
  });

  const ERRORS: [string, string, string][] = [
    ['an error object', 'data: {"error":{"message":"boom","type":"server_error"}}\n\n', 'server'],
    ['an error of object "error"', 'data: {"object":"error","message":"x","code":500}\n\n' + DONE, 'server'],
    ['an error that is a text', 'data: {"error":"boom"}\n\n' + DONE, 'server'],
    ['a finish reason that is an error', delta({}, 'error') + DONE, 'server'],
    [
      'an error in a choice',
      chunk({
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', error: { code: 502, message: 'x' } }],
      }),
      'server',
    ],
    ['an event named error', 'event: error\ndata: {"message":"x"}\n\n', 'server'],
    ['an event named error that is no JSON', 'event: error\ndata: upstream died\n\n', 'server'],
    ["an error in Anthropic's words", 'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n', 'overloaded'],
    ['a numeric code 402', 'data: {"error":{"message":"x","code":402}}\n\n', 'account'],
    ['a code 429 as text', 'data: {"error":{"message":"x","code":"429"}}\n\n', 'rate_limited'],
    ['a detail', 'data: {"detail":"Internal error"}\n\n', 'server'],
    ['an error in an array', 'data: [{"error":{"code":503,"status":"UNAVAILABLE"}}]\n\n', 'overloaded'],
    ["MiniMax's status", 'data: {"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}\n\n', 'account'],
    [
      'a prompt that is too long',
      'data: {"error":{"code":"context_length_exceeded","message":"too long"}}\n\n',
      'context_window',
    ],
  ];

  it.each(ERRORS)('fails with %s before the first content, and nothing of it is shown', (_what, error, kind) => {
    const { reader, text } = openai(call, delta({ role: 'assistant', content: '' }) + error);
    expect(reader).toMatchObject({ contentSeen: false, ended: false, fault: { kind } });
    expect(text).toBe('');
  });

  it.each(ERRORS)('fails with %s after content, whose words stay and nothing follows', (_what, error, kind) => {
    const { reader, text } = openai(call, HELLO + error + delta({ content: ' more' }) + DONE);
    expect(reader).toMatchObject({ contentSeen: true, ended: false, fault: { kind } });
    expect(text).toContain('Hello');
    expect(text).not.toMatch(/more|DONE|boom/);
  });

  it.each([
    ['reasoning beside empty content', { reasoning: 'Hm', content: '' }],
    ['reasoning_content', { reasoning_content: 'Hm', content: null }],
    ['a member that nobody knows', { thoughts_of_tomorrow: [{ text: 'Hm' }] }],
    ['an image', { images: [{ image_url: { url: 'data:,' } }] }],
    ['speech', { audio: { id: 'a' } }],
  ])('%s is content', (_what, value) => {
    expect(openai(call, delta({ role: 'assistant', content: '' }) + delta(value)).reader.contentSeen).toBe(true);
  });

  it('1,500 deltas of reasoning are an answer with a length', () => {
    const { reader } = openai(call, delta({ reasoning: 'abcd', content: '' }).repeat(1_500) + delta({}, 'stop') + DONE);
    expect(reader).toMatchObject({ ended: true, outputChars: 6_000 });
  });

  it('a line as long as an image passes', () => {
    const image = 'A'.repeat(10 * 1024 * 1024);
    const { reader } = openai(call, delta({ images: [{ image_url: { url: image } }] }) + delta({}, 'stop') + DONE);
    expect(reader).toMatchObject({ ended: true, fault: undefined });
  });
});

describe.each(FROM_ANTHROPIC)('an Anthropic stream, %s,', (_how, call) => {
  it.each([
    ['its mark', START + textBlock('Hello') + finish('end_turn') + STOP],
    ['a mark without the blank line', START + textBlock('Hello') + finish('end_turn') + STOP.trimEnd()],
    ['a clean end after its stop reason', START + textBlock('Hello') + finish('end_turn')],
    ['a mark of the other dialect', START + textBlock('Hello') + finish('end_turn') + DONE],
    ['both marks', START + textBlock('Hello') + finish('end_turn') + STOP + DONE],
  ])('is complete with %s, and ends in the words of its reader', (_what, text) => {
    const { reader, text: out } = anthropic(call, text);
    expect(reader).toMatchObject({ ended: true, fault: undefined, usage: { input: 5, output: 7 } });
    expect(out).toMatch(ENDS[call.operation] as RegExp);
  });

  it.each([
    ['a clean end without a stop reason', START + textBlock('Hello')],
    ['a mark of the other dialect without one', START + textBlock('Hello') + DONE],
  ])('is not complete with %s', (_what, text) => {
    expect(anthropic(call, text).reader).toMatchObject({ ended: false, contentSeen: true });
  });

  it.each([
    ['nothing but a start and a mark', START + STOP],
    ['a mark of the other dialect', START + DONE],
  ])('of %s is no success', (_what, text) => {
    expect(anthropic(call, text).reader).toMatchObject({ ended: false, fault: { kind: 'truncated' } });
  });

  it.each([
    ['its own error', named('error', { error: { type: 'overloaded_error', message: 'x' } }), 'overloaded'],
    ['an error without a name', 'data: {"error":{"type":"rate_limit_error"}}\n\n', 'rate_limited'],
    ['an error that is a text', 'data: {"error":"boom"}\n\n', 'server'],
    ['an event named error', 'event: error\ndata: {"message":"x","code":402}\n\n', 'account'],
  ])('fails with %s', (_what, error, kind) => {
    expect(anthropic(call, START + error).reader).toMatchObject({ contentSeen: false, fault: { kind } });
    const { reader, text } = anthropic(call, START + textBlock('Hello') + error + finish('end_turn') + STOP);
    expect(reader).toMatchObject({ contentSeen: true, ended: false, fault: { kind } });
    expect(text).not.toMatch(/DONE|message_stop|boom/);
  });
});

describe('a whole answer', () => {
  it.each([
    ['{"object":"error","message":"x","code":500}', 'server'],
    ['{"error":"boom"}', 'server'],
    ['{"error":{"code":402,"message":"x"}}', 'account'],
    ['{"error":{"code":"402","message":"x"}}', 'account'],
    ['{"choices":[{"finish_reason":"error","message":{"role":"assistant","content":""}}]}', 'server'],
    ['{"choices":[{"error":{"code":429,"message":"x"},"message":{"content":""}}]}', 'rate_limited'],
    ['{"code":"Arrearage","message":"x"}', 'account'],
    ['{"detail":[{"msg":"x"}]}', 'server'],
    ['[{"error":{"code":400,"message":"x","details":[{"reason":"API_KEY_INVALID"}]}}]', 'account'],
  ])('of %s is a fault of kind %s, in either dialect', (text, kind) => {
    for (const operation of ['chat', 'messages'] as const) {
      const read = openaiAdapter.readWhole(callOf(operation), Buffer.from(text));
      expect(isFault(read) && read.kind).toBe(kind);
    }
  });

  it('with an error that the caller caused gives the status that it names and its words, as the caller speaks', () => {
    const text = Buffer.from('{"error":{"code":422,"message":"no such voice","type":"invalid_request_error"}}');
    const [chat, messages] = (['chat', 'messages'] as const).map((operation) => {
      const read = openaiAdapter.readWhole(callOf(operation), text);
      if (!isFault(read)) throw new Error('no fault');
      expect(read).toMatchObject({ kind: 'caller', status: 422 });
      return JSON.parse(String(read.body)) as object;
    });
    expect(chat).toMatchObject({ error: { message: 'no such voice', code: 422 } });
    expect(messages).toMatchObject({ type: 'error', error: { message: 'no such voice' } });
  });
});
