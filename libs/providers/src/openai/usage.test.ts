import { totalTokens } from '@sluice/contracts';
import { openaiUsage } from './usage.ts';

const NONE = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

describe('usage of OpenAI', () => {
  // As the API reference and the guides on caching, reasoning, audio and predicted outputs document it.
  it.each([
    [
      'a plain completion',
      {
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      { ...NONE, input: 19, output: 10 },
    ],
    [
      'a cached prompt',
      {
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      { ...NONE, input: 86, cache_read: 1920, output: 300 },
    ],
    [
      'a reasoning model',
      {
        prompt_tokens: 75,
        completion_tokens: 1186,
        total_tokens: 1261,
        completion_tokens_details: { reasoning_tokens: 1024 },
      },
      { ...NONE, input: 75, output: 162, reasoning: 1024 },
    ],
    [
      'audio in and out',
      {
        prompt_tokens: 110,
        completion_tokens: 240,
        total_tokens: 350,
        prompt_tokens_details: { cached_tokens: 10, audio_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 200 },
      },
      { ...NONE, input: 40, cache_read: 10, output: 40, audio: 260 },
    ],
    [
      'predicted outputs, which are completion tokens, rejected ones too',
      {
        prompt_tokens: 270,
        completion_tokens: 301,
        total_tokens: 571,
        completion_tokens_details: {
          accepted_prediction_tokens: 80,
          rejected_prediction_tokens: 25,
          reasoning_tokens: 0,
        },
      },
      { ...NONE, input: 270, output: 301 },
    ],
    ['embeddings', { prompt_tokens: 8, total_tokens: 8 }, { ...NONE, input: 8 }],
    [
      'details that are null',
      {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 7,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
      { ...NONE, input: 5, output: 2 },
    ],
    [
      'writes to the cache among the details',
      {
        prompt_tokens: 1000,
        completion_tokens: 5,
        total_tokens: 1005,
        prompt_tokens_details: { cache_write_tokens: 900 },
      },
      { ...NONE, input: 100, cache_write: 900, output: 5 },
    ],
    [
      "DeepSeek's hits and misses",
      {
        prompt_tokens: 1000,
        completion_tokens: 20,
        total_tokens: 1020,
        prompt_cache_hit_tokens: 896,
        prompt_cache_miss_tokens: 104,
        completion_tokens_details: { reasoning_tokens: 12 },
      },
      { ...NONE, input: 104, cache_read: 896, output: 8, reasoning: 12 },
    ],
    [
      'cached tokens beside the details',
      { prompt_tokens: 300, completion_tokens: 10, total_tokens: 310, cached_tokens: 256 },
      { ...NONE, input: 44, cache_read: 256, output: 10 },
    ],
    [
      "xAI's reasoning, which stands beside the completion",
      {
        prompt_tokens: 10,
        completion_tokens: 9,
        total_tokens: 339,
        completion_tokens_details: { reasoning_tokens: 320 },
      },
      { ...NONE, input: 10, output: 9, reasoning: 320 },
    ],
    [
      "xAI's prompt with images and a cache",
      {
        prompt_tokens: 125,
        completion_tokens: 48,
        total_tokens: 173,
        prompt_tokens_details: { text_tokens: 125, audio_tokens: 0, image_tokens: 0, cached_tokens: 98 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      { ...NONE, input: 27, cache_read: 98, output: 48 },
    ],
    [
      "Gemini's thoughts, which only the total tells",
      { prompt_tokens: 758, completion_tokens: 102, total_tokens: 1725 },
      { ...NONE, input: 758, output: 102, reasoning: 865 },
    ],
    ['explicit zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, NONE],
  ])('%s: each token in one class, all together the total', (_what, reported, expected) => {
    const usage = openaiUsage(reported);
    expect(usage).toEqual(expected);
    expect(usage === undefined ? undefined : totalTokens(usage)).toBe(reported.total_tokens);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['no counts', {}],
    ['a negative prompt', { prompt_tokens: -5, completion_tokens: 3 }],
    ['a negative completion', { prompt_tokens: 5, completion_tokens: -3 }],
    ['a fraction', { prompt_tokens: 5, completion_tokens: 1.5 }],
    ['no number', { prompt_tokens: NaN, completion_tokens: 1 }],
    ['text', { prompt_tokens: '5', completion_tokens: 1 }],
    ['a count beyond all sense', { prompt_tokens: 5, completion_tokens: 1e12 }],
    ['a negative part', { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: -1 } }],
    [
      'parts beyond their sum',
      { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 50 } },
    ],
    [
      'output parts beyond their sum',
      { prompt_tokens: 5, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 5 } },
    ],
  ])('%s is unknown, and neither zero nor clamped', (_what, reported) => expect(openaiUsage(reported)).toBeUndefined());
});
