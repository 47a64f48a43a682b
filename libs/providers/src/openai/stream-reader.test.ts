import fc from 'fast-check';
import type { InboundCall, StreamReader } from '@sluice/contracts';
import { createOpenaiStreamReader } from './stream-reader.ts';

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...fields })}\n\n`;
const content = (text: string): string =>
  chunk({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
const ROLE = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] });
const STOP = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = chunk({
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, prompt_tokens_details: { cached_tokens: 4 } },
});
const DONE = 'data: [DONE]\n\n';
const ERROR = 'data: {"error":{"message":"no","type":"server_error","code":"x"}}\n\n';

function read(wantsUsage = false): StreamReader {
  const call: InboundCall = {
    operation: 'chat',
    bytes: Buffer.alloc(0),
    body: {},
    stream: true,
    wantsUsage,
    forwardHeaders: {},
  };
  return createOpenaiStreamReader(call);
}

/** Pushes a text cut at the given places. */
function forwarded(reader: StreamReader, text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  let out = '';
  let from = 0;
  for (const cut of [...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length]) {
    if (cut > from) out += reader.push(bytes.subarray(from, cut))?.toString() ?? '';
    from = cut;
  }
  return out;
}

describe('the reader of OpenAI streams', () => {
  it('keeps the preamble back until there is content', () => {
    const reader = read();
    expect(reader.push(Buffer.from(ROLE))).toBeUndefined();
    expect(reader.push(Buffer.from(content('hi')))?.toString()).toBe(ROLE + content('hi'));
  });

  it('gives the very same buffer back when nothing is hidden', () => {
    const reader = read();
    reader.push(Buffer.from(content('a')));
    const buffer = Buffer.from(content('b') + content('c'));
    expect(reader.push(buffer)).toBe(buffer);
  });

  it('hides the usage chunk from a caller that did not ask, also when its counts are unusable', () => {
    const reader = read();
    const unusable = chunk({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 2 } });
    expect(forwarded(reader, content('a') + unusable)).toBe(content('a'));
    expect(reader.usage).toBeUndefined();
    expect(forwarded(reader, STOP + USAGE + DONE)).toBe(STOP + DONE);
    expect(reader.usage).toEqual({ input: 5, cache_read: 4, cache_write: 0, output: 2, reasoning: 0, audio: 0 });
  });

  it('shows it to a caller that asked', () => {
    expect(forwarded(read(true), content('a') + USAGE + DONE)).toBe(content('a') + USAGE + DONE);
  });

  it('forwards what came before an error in the same buffer, and not the error', () => {
    const reader = read();
    expect(forwarded(reader, content('a') + content('b') + ERROR + content('c'))).toBe(content('a') + content('b'));
    expect(reader).toMatchObject({ outputChars: 2, ended: false, fault: { kind: 'server' } });
  });

  it.each([
    ['Chinese, where a character is most of a token', { content: '你好世界' }, 12],
    ['a legacy function call', { function_call: { name: 'ab', arguments: '{}' } }, 4],
    ['a tool call', { tool_calls: [{ index: 0, function: { name: 'ab', arguments: '{}' } }] }, 4],
    ['reasoning', { reasoning_content: 'because' }, 7],
    ['a second of speech, twenty tokens', { audio: { data: 'A'.repeat(64_000) } }, 80],
    ['what was spoken', { audio: { transcript: 'Hello' } }, 5],
  ])('measures %s for the estimate of an answer that breaks off', (_what, delta, chars) => {
    const reader = read();
    reader.push(Buffer.from(chunk({ choices: [{ index: 0, delta }] })));
    expect(reader).toMatchObject({ contentSeen: true, outputChars: chars });
  });

  it('forwards nothing after the end', () => {
    expect(forwarded(read(), content('a') + DONE + content('b'))).toBe(content('a') + DONE);
  });

  it('gives the same result for any split of the bytes', () => {
    const part = fc.constantFrom(ROLE, content('é"\\'), content(''), STOP, USAGE, DONE, ERROR, ': ping\n\n');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.array(fc.nat(1500), { maxLength: 12 }),
        fc.boolean(),
        (parts, cuts, wantsUsage) => {
          const [whole, split] = [read(wantsUsage), read(wantsUsage)];
          expect(forwarded(split, parts.join(''), cuts)).toBe(forwarded(whole, parts.join('')));
          const facts = (reader: StreamReader) => [
            reader.contentSeen,
            reader.ended,
            reader.fault,
            reader.usage,
            reader.finishReason,
            reader.outputChars,
            reader.flush()?.toString(),
          ];
          expect(facts(split)).toEqual(facts(whole));
        },
      ),
    );
  });
});

describe('a preamble', () => {
  it('of more than 256 KiB without content is a malformed answer, and is not kept', () => {
    const reader = createOpenaiStreamReader({
      operation: 'chat',
      bytes: Buffer.alloc(0),
      body: {},
      stream: true,
      wantsUsage: false,
      forwardHeaders: {},
    });
    let pushed = 0;
    while (reader.fault === undefined && pushed < 1_000_000) {
      reader.push(Buffer.from(ROLE));
      pushed += ROLE.length;
    }
    expect(reader.fault?.kind).toBe('malformed');
    expect(pushed).toBeLessThan(256 * 1024 + 2 * ROLE.length);
    expect(reader.flush()).toBeUndefined();
  });
  it('of less is given whole with the first content', () => {
    const reader = createOpenaiStreamReader({
      operation: 'chat',
      bytes: Buffer.alloc(0),
      body: {},
      stream: true,
      wantsUsage: false,
      forwardHeaders: {},
    });
    for (let i = 0; i < 1_000; i += 1) expect(reader.push(Buffer.from(ROLE))).toBeUndefined();
    expect(reader.push(Buffer.from(content('Hi')))?.toString()).toBe(ROLE.repeat(1_000) + content('Hi'));
  });
});
