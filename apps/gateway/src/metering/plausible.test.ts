import { zeroUsage, type TokenUsage } from '@sluice/contracts';
import { isOpaqueBody } from './opaque-body.ts';
import { plausible, type CallBounds } from './plausible.ts';

const BOUNDS: CallBounds = {
  model: { contextTokens: 128_000, maxOutputTokens: 16_000 },
  isEmbedding: false,
  choices: 1,
  bodyBytes: 1_000,
  isOpaque: () => false,
  outputChars: 400,
};
const judge = (usage: Partial<TokenUsage>, more: Partial<CallBounds> = {}, tools?: Record<string, number>) =>
  plausible(
    { abortCase: 'complete', usage: { ...zeroUsage(), ...usage }, usageSource: 'provider' },
    tools && { tools },
    { ...BOUNDS, ...more },
    () => 250,
  ).final;

describe('a count that can be', () => {
  it.each([
    ['of an ordinary call', { input: 200, output: 90 }, {}],
    ['of a template around a short text', { input: 4_000, output: 90 }, {}],
    ['of reasoning that is hidden', { input: 200, output: 10, reasoning: 15_000 }, {}],
    ['of an image by its address', { input: 90_000, output: 90 }, { isOpaque: (): boolean => true }],
    ['of several choices', { input: 200, reasoning: 40_000 }, { choices: 3 }],
    ['of many texts to embed', { input: 900_000 }, { isEmbedding: true, bodyBytes: 4_000_000 }],
    ['of a model that has left the catalogue', { input: 3_000, reasoning: 900_000 }, { model: undefined }],
  ])('%s stays', (_what, usage, more) => {
    expect(judge(usage, more)).toMatchObject({ usage, usageSource: 'provider' });
  });

  it('of a call whose tools searched may be several contexts', () => {
    expect(judge({ input: 500_000, output: 90 }, {}, { web_search: 5 })).toMatchObject({ usageSource: 'provider' });
  });
});

describe('a count that cannot be gives way to the estimate, on its side alone', () => {
  it.each([
    [
      'more input than the context',
      { input: 1e9, output: 90 },
      { isOpaque: (): boolean => true },
      { input: 250, output: 90 },
    ],
    [
      'cached input beyond it',
      { cache_read: 128_001, output: 90 },
      { isOpaque: (): boolean => true },
      { input: 250, cache_read: 0 },
    ],
    ['far more input than bytes', { input: 6_000, output: 90 }, {}, { input: 250, output: 90 }],
    ['more output than the model makes', { input: 200, reasoning: 1e9 }, {}, { input: 200, output: 100, reasoning: 0 }],
    ['far more text than came', { input: 200, output: 9_000 }, {}, { input: 200, output: 100 }],
    ['both', { input: 1e9, output: 1e9 }, {}, { input: 250, output: 100 }],
    ['more to embed than was sent', { input: 10_000 }, { isEmbedding: true }, { input: 250 }],
  ])('%s', (_what, usage, more, expected) => {
    expect(judge(usage, more)).toMatchObject({ usage: expected, usageSource: 'bounded' });
  });

  it('uses of tools beyond all sense are none', () => {
    expect(judge({ input: 200, output: 90 }, {}, { web_search: 1e9 })).toMatchObject({ usageSource: 'bounded' });
  });
});

describe('whether the bytes of a body bound its tokens', () => {
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
  it.each([
    ['text', user('hello'), false],
    ['parts of text', user([{ type: 'text', text: 'hello' }]), false],
    ['results of tools', user([{ type: 'tool_result', content: [{ type: 'text', text: 'x' }] }]), false],
    [
      'functions',
      {
        ...user('x'),
        tools: [
          { type: 'function', function: {} },
          { name: 'f', input_schema: {} },
        ],
      },
      false,
    ],
    ['an image', user([{ type: 'image_url', image_url: { url: 'https://x/y.png' } }]), true],
    ['an image in the result of a tool', user([{ type: 'tool_result', content: [{ type: 'image' }] }]), true],
    ['a kind of part that nobody knows', user([{ type: 'of_tomorrow' }]), true],
    ['a tool that searches', { ...user('x'), tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, true],
    ['an option that searches', { ...user('x'), web_search_options: {} }, true],
    ['output that is predicted', { ...user('x'), prediction: { type: 'content', content: '' } }, true],
  ])('%s', (_what, body, expected) => expect(isOpaqueBody(body)).toBe(expected));
});
